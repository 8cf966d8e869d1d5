{{- define "rewardline.Deployment" -}}
{{- $values := .root.Values -}}
{{- $pod := .object.spec.template.spec -}}
{{- $container := index $pod.containers 0 -}}
{{- if eq $values.autoscaling.by "none" }}{{ $_ := set .object.spec "replicas" .values.replicas }}{{ else }}{{ $_ := unset .object.spec "replicas" }}{{ end -}}
{{- $_ := set $container "image" (include "rewardline.image" (dict "root" .root "image" (ternary $values.image.boxHost $values.image.front (eq .part "box-host")))) -}}
{{- $_ := set $container "imagePullPolicy" $values.image.pullPolicy -}}
{{- with $values.image.pullSecrets }}{{ $_ := set $pod "imagePullSecrets" . }}{{ end -}}
{{- with .values.resources }}{{ $_ := set $container "resources" . }}{{ end -}}
{{- if not (kindIs "invalid" .values.nodeSelector) }}{{ include "rewardline.put" (dict "in" $pod "name" "nodeSelector" "value" .values.nodeSelector) }}{{ end -}}
{{- if not (kindIs "invalid" .values.tolerations) }}{{ include "rewardline.put" (dict "in" $pod "name" "tolerations" "value" .values.tolerations) }}{{ end -}}
{{- $settings := toJson (list .values.settings .values.isolation $values.secrets $values.boxHost.enabled (ternary dict $values.tracing (eq .part "box-host"))) -}}
{{- $_ := set .object.spec.template.metadata "annotations" (merge (dict "rewardline/settings" (sha256sum $settings)) .values.annotations.pod) -}}
{{- with .values.annotations.deployment }}{{ $_ := set $.object.metadata "annotations" . }}{{ end -}}
{{- with .values.priorityClassName }}{{ $_ := set $pod "priorityClassName" . }}{{ end -}}
{{- include "rewardline.affinity" (dict "pod" $pod "affinity" (deepCopy .values.affinity)) -}}
{{- include (printf "rewardline.%s" .part) (dict "root" .root "pod" $pod "container" $container "values" .values) -}}
{{- include "rewardline.variables" (dict "container" $container "values" .values) -}}
{{- if not $values.secrets.keys }}{{ include "rewardline.unmount" (dict "pod" $pod "container" $container "name" "keys") }}{{ end -}}
{{- end -}}

{{- define "rewardline.image" -}}
{{- if .image.digest }}{{ .image.repository }}@{{ .image.digest }}{{ else }}{{ .image.repository }}:{{ .image.tag | default .root.Chart.AppVersion }}{{ end -}}
{{- end -}}

{{- /* An empty value removes the field. */ -}}
{{- define "rewardline.put" -}}
{{- if .value }}{{ $_ := set .in .name .value }}{{ else }}{{ $_ := unset .in .name }}{{ end -}}
{{- end -}}

{{- /* What the pods must keep apart stays so: a node has one box host. */ -}}
{{- define "rewardline.affinity" -}}
{{- $required := "requiredDuringSchedulingIgnoredDuringExecution" -}}
{{- $apart := dig "podAntiAffinity" $required list (.pod.affinity | default dict) -}}
{{- if $apart -}}
{{- $anti := get .affinity "podAntiAffinity" | default dict -}}
{{- $_ := set $anti $required (concat $apart (get $anti $required | default list)) -}}
{{- $_ := set .affinity "podAntiAffinity" $anti -}}
{{- end -}}
{{- with .affinity }}{{ $_ := set $.pod "affinity" . }}{{ end -}}
{{- end -}}

{{- /* A variable takes the place of one with its name. */ -}}
{{- define "rewardline.variables" -}}
{{- $names := list -}}{{- range .values.env }}{{ $names = append $names .name }}{{ end -}}
{{- $env := list -}}{{- range .container.env }}{{ if not (has .name $names) }}{{ $env = append $env . }}{{ end }}{{ end -}}
{{- $_ := set .container "env" (concat $env .values.env) -}}
{{- $_ := set .container "envFrom" (concat .container.envFrom .values.envFrom) -}}
{{- end -}}

{{- define "rewardline.unmount" -}}
{{- $mounts := list -}}{{- range .container.volumeMounts }}{{ if ne .name $.name }}{{ $mounts = append $mounts . }}{{ end }}{{ end -}}
{{- $volumes := list -}}{{- range .pod.volumes }}{{ if ne .name $.name }}{{ $volumes = append $volumes . }}{{ end }}{{ end -}}
{{- $_ := set .container "volumeMounts" $mounts -}}
{{- $_ := set .pod "volumes" $volumes -}}
{{- end -}}

{{- /* Adds a volume below /etc/rewardline, and variables with the paths of its files. */ -}}
{{- define "rewardline.mount" -}}
{{- $directory := printf "/etc/rewardline/%s" .name -}}
{{- $_ := set .container "volumeMounts" (append .container.volumeMounts (dict "name" .name "mountPath" $directory "readOnly" true)) -}}
{{- $_ := set .pod "volumes" (append .pod.volumes (merge (dict "name" .name) .source)) -}}
{{- range $variable, $file := .files -}}
{{- $_ := set $.container "env" (append $.container.env (dict "name" $variable "value" (printf "%s/%s" $directory $file))) -}}
{{- end -}}
{{- end -}}

{{- define "rewardline.front" -}}
{{- $values := .root.Values -}}
{{- $env := list -}}
{{- range .container.env -}}
{{- if eq .name "REWARDLINE_BOX_HOSTS_KEY" -}}
{{- $_ := set .valueFrom.secretKeyRef "name" $values.secrets.boxHosts -}}
{{- if and $values.boxHost.enabled $values.secrets.keys }}{{ $env = append $env . }}{{ end -}}
{{- else if eq .name "REWARDLINE_REDIS_URL" -}}
{{- $_ := set .valueFrom.secretKeyRef "name" $values.secrets.redis.name -}}
{{- if $values.secrets.redis.required }}{{ $_ := unset .valueFrom.secretKeyRef "optional" }}{{ end -}}
{{- if $values.secrets.redis.name }}{{ $env = append $env . }}{{ end -}}
{{- else -}}{{- $env = append $env . -}}{{- end -}}
{{- end -}}
{{- $_ := set .container "env" $env -}}
{{- range .pod.volumes }}{{ if eq .name "keys" }}{{ $_ := set .secret "secretName" $values.secrets.keys }}{{ end }}{{ end -}}
{{- $in := dict "pod" .pod "container" .container -}}
{{- if $values.secrets.tls.name -}}
{{- $files := dict "REWARDLINE_TLS_CERT" "tls.crt" "REWARDLINE_TLS_KEY" "tls.key" -}}
{{- if $values.secrets.tls.clientCertificates }}{{ $_ := set $files "REWARDLINE_TLS_CLIENT_CA" "ca.crt" }}{{ end -}}
{{- include "rewardline.mount" (merge (dict "name" "tls" "files" $files "source" (dict "secret" (dict "secretName" $values.secrets.tls.name "defaultMode" 288))) $in) -}}
{{- end -}}
{{- if and $values.boxHost.enabled $values.secrets.boxHostTls.front -}}
{{- $files := dict "REWARDLINE_BOX_HOSTS_TLS_CA" "ca.crt" "REWARDLINE_BOX_HOSTS_TLS_CERT" "tls.crt" "REWARDLINE_BOX_HOSTS_TLS_KEY" "tls.key" -}}
{{- include "rewardline.mount" (merge (dict "name" "box-hosts-tls" "files" $files "source" (dict "secret" (dict "secretName" $values.secrets.boxHostTls.front "defaultMode" 288))) $in) -}}
{{- end -}}
{{- if $values.judges.configMap -}}
{{- include "rewardline.mount" (merge (dict "name" "judges" "files" (dict "REWARDLINE_JUDGE_FILE" "judges.yaml") "source" (dict "configMap" (dict "name" $values.judges.configMap))) $in) -}}
{{- with $values.judges.keysSecret }}{{ $_ := set $in.container "envFrom" (append $in.container.envFrom (dict "secretRef" (dict "name" . "optional" true))) }}{{ end -}}
{{- end -}}
{{- if and $values.tracing.endpoint $values.tracing.secret -}}
{{- $_ := set $in.container "envFrom" (append $in.container.envFrom (dict "secretRef" (dict "name" $values.tracing.secret "optional" true))) -}}
{{- end -}}
{{- if $values.recipes.configMap -}}
{{- include "rewardline.mount" (merge (dict "name" "recipes" "files" (dict "REWARDLINE_RECIPES_FILE" "recipes.yaml") "source" (dict "configMap" (dict "name" $values.recipes.configMap))) $in) -}}
{{- end -}}
{{- end -}}

{{- define "rewardline.box-host" -}}
{{- range .pod.volumes }}{{ if eq .name "keys" }}{{ $_ := set .secret "secretName" $.root.Values.secrets.boxHosts }}{{ end }}{{ end -}}
{{- with .root.Values.secrets.boxHostTls.boxes -}}
{{- $files := dict "REWARDLINE_TLS_CERT" "tls.crt" "REWARDLINE_TLS_CLIENT_CA" "ca.crt" "REWARDLINE_TLS_KEY" "tls.key" -}}
{{- include "rewardline.mount" (dict "pod" $.pod "container" $.container "name" "tls" "files" $files "source" (dict "secret" (dict "secretName" . "defaultMode" 288))) -}}
{{- end -}}
{{- with .values.runtimeClassName }}{{ $_ := set $.pod "runtimeClassName" . }}{{ end -}}
{{- if eq .values.isolation "namespaces" -}}
{{- $_ := set .pod "hostUsers" false -}}
{{- $_ := set .pod "securityContext" (dict "runAsUser" 0 "runAsGroup" 0 "seccompProfile" (dict "type" "Localhost" "localhostProfile" "rewardline-boxes.json")) -}}
{{- $_ := set .container.securityContext "procMount" "Unmasked" -}}
{{- $_ := set .container.securityContext.capabilities "add" (list "SETGID" "SETUID") -}}
{{- end -}}
{{- if eq .values.isolation "gvisor" -}}
{{- $_ := required "isolation gvisor gives rights that only gVisor's kernel may be given: set boxHost.runtimeClassName" .values.runtimeClassName -}}
{{- $_ := set .pod "securityContext" (dict "runAsUser" 0 "runAsGroup" 0 "seccompProfile" (dict "type" "RuntimeDefault")) -}}
{{- $_ := set .container.securityContext.capabilities "add" (list "DAC_OVERRIDE" "KILL" "SETGID" "SETUID" "SYS_ADMIN" "SYS_CHROOT") -}}
{{- end -}}
{{- end -}}
