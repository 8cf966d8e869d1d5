{{- /* One template for each kind of object. It changes the object it gets, and prints nothing. */ -}}

{{- define "rewardline.labels" -}}
app.kubernetes.io/name: rewardline
app.kubernetes.io/part-of: rewardline
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "rewardline.label" -}}
{{- $_ := set .object.metadata "namespace" .root.Release.Namespace -}}
{{- $own := fromYaml (include "rewardline.labels" .root) -}}
{{- $_ := set .object.metadata "labels" (merge dict .object.metadata.labels $own) -}}
{{- end -}}

{{- define "rewardline.ServiceAccount" -}}{{- end -}}
{{- define "rewardline.PodDisruptionBudget" -}}{{- end -}}

{{- define "rewardline.ServiceMonitor" -}}
{{- $_ := set .object.metadata "labels" (merge dict .object.metadata.labels .root.Values.monitoring.labels) -}}
{{- end -}}
{{- define "rewardline.PrometheusRule" -}}{{- include "rewardline.ServiceMonitor" . -}}{{- end -}}

{{- define "rewardline.Service" -}}
{{- with .values.annotations.service }}{{ $_ := set $.object.metadata "annotations" . }}{{ end -}}
{{- $secrets := .root.Values.secrets -}}
{{- if (ternary $secrets.boxHostTls.boxes $secrets.tls.name (eq .part "box-host")) -}}
{{- range .object.spec.ports -}}{{- if ne .name "ops" }}{{ $_ := set . "appProtocol" "https" }}{{ end -}}{{- end -}}
{{- end -}}
{{- end -}}

{{- define "rewardline.NetworkPolicy" -}}
{{- $network := .root.Values.network -}}
{{- range $rule := .object.spec.ingress -}}
{{- $ports := list -}}{{- range $rule.ports }}{{ $ports = append $ports (toString .port) }}{{ end -}}
{{- if has "ops" $ports }}{{ $_ := set $rule "from" $network.monitoring }}{{ end -}}
{{- if has "grpc" $ports }}{{ $_ := set $rule "from" $network.callers }}{{ end -}}
{{- end -}}
{{- if eq .object.metadata.name "rewardline-to-collector" -}}
{{- $port := dict "port" (include "rewardline.portOf" .root.Values.tracing.endpoint | int) "protocol" "TCP" -}}
{{- $_ := set .object.spec "egress" (list (dict "to" .root.Values.tracing.collector "ports" (list $port))) -}}
{{- end -}}
{{- end -}}

{{- /* The port of a URL. A URL may leave it out. */ -}}
{{- define "rewardline.portOf" -}}
{{- $url := urlParse . -}}
{{- regexFind "[0-9]+$" (regexFind ":[0-9]+$" $url.host) | default (ternary "443" "80" (eq $url.scheme "https")) -}}
{{- end -}}

{{- define "rewardline.ConfigMap" -}}
{{- if eq .object.metadata.name "rewardline-dashboard" }}{{ include "rewardline.dashboard" . }}{{ else }}{{ include "rewardline.settings" . }}{{ end -}}
{{- end -}}

{{- define "rewardline.dashboard" -}}
{{- $dashboard := .root.Values.dashboard -}}
{{- $labels := merge dict (omit .object.metadata.labels "grafana_dashboard") $dashboard.labels -}}
{{- $_ := set .object.metadata "labels" $labels -}}
{{- with $dashboard.annotations }}{{ $_ := set $.object.metadata "annotations" . }}{{ end -}}
{{- end -}}

{{- define "rewardline.settings" -}}
{{- $data := .object.data -}}
{{- if not .root.Values.secrets.keys -}}
{{- $_ := unset $data "REWARDLINE_KEYS_FILE" -}}{{- $_ := set $data "REWARDLINE_ALLOW_OPEN" "1" -}}
{{- end -}}
{{- if and (eq .part "front") (not .root.Values.boxHost.enabled) -}}
{{- $_ := unset $data "REWARDLINE_BOX_HOSTS" -}}{{- $_ := set $data "REWARDLINE_SANDBOX" "none" -}}
{{- end -}}
{{- if and (eq .part "front") .root.Values.boxHost.enabled .root.Values.secrets.boxHostTls.front -}}
{{- $_ := set $data "REWARDLINE_BOX_HOSTS" (replace "http://" "https://" $data.REWARDLINE_BOX_HOSTS) -}}
{{- end -}}
{{- if and (eq .part "front") .root.Values.tracing.endpoint -}}
{{- $_ := set $data "REWARDLINE_OTLP_ENDPOINT" .root.Values.tracing.endpoint -}}
{{- $_ := set $data "REWARDLINE_TRACE_SHARE" (toString .root.Values.tracing.share) -}}
{{- end -}}
{{- if and (eq .part "box-host") (eq .values.isolation "namespaces") -}}
{{- $_ := set $data "REWARDLINE_LOCAL_TIER" "namespaces" -}}
{{- end -}}
{{- range $name, $value := .values.settings }}{{ $_ := set $data $name $value }}{{ end -}}
{{- end -}}

{{- define "rewardline.HorizontalPodAutoscaler" -}}
{{- $bounds := ternary .root.Values.autoscaling.boxHost .root.Values.autoscaling.front (eq .part "box-host") -}}
{{- $_ := set .object.spec "minReplicas" $bounds.min -}}
{{- $_ := set .object.spec "maxReplicas" $bounds.max -}}
{{- range .object.spec.metrics -}}
{{- if .external }}{{ $_ := set .external.target "averageValue" (toString $.root.Values.autoscaling.queuedWorkSeconds) }}{{ end -}}
{{- end -}}
{{- end -}}

{{- define "rewardline.ScaledObject" -}}
{{- $autoscaling := .root.Values.autoscaling -}}
{{- $bounds := ternary $autoscaling.boxHost $autoscaling.front (eq .part "box-host") -}}
{{- $_ := set .object.spec "minReplicaCount" $bounds.min -}}
{{- $_ := set .object.spec "maxReplicaCount" $bounds.max -}}
{{- $metadata := (index .object.spec.triggers 0).metadata -}}
{{- $_ := set $metadata "serverAddress" $autoscaling.prometheus -}}
{{- $_ := set $metadata "threshold" (toString $autoscaling.queuedWorkSeconds) -}}
{{- $_ := set $metadata "query" (replace "namespace=\"rewardline\"" (printf "namespace=%q" .root.Release.Namespace) $metadata.query) -}}
{{- end -}}
