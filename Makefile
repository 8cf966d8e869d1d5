# The commands of this project. They need git, make, python3 (with venv) and apt, and install everything else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# uv takes a twentieth of pip's time. If uv does not find the index, pip installs: uv does not read pip's configuration.
INSTALL = $(BIN)/uv pip install --quiet --python $(BIN)/python $(1) || $(PIP) $(1)

.PHONY: serve test test-all check bench accuracy graders fuzz proto lock audit redis docker browser compilers prometheus kubernetes chaos-tools registry reliability box-image docs release help clean

# Python keeps compiled modules, even if the environment forbids it (PYTHONDONTWRITEBYTECODE).
serve: export PYTHONDONTWRITEBYTECODE :=
serve: $(VENV)/serve.stamp ## Install what the service needs, and serve
	@exec $(BIN)/rewardline serve

# The quick lane: it touches every module and uses each real component once. It takes about ten minutes on two cores.
test: $(VENV)/test.stamp redis docker browser compilers kubernetes ## The quick lane, after the linters: what CI runs
	$(CHECK)
	@$(BIN)/python -m tests.run quick

# All tests, or one part of them: `make test-all ONLY=chaos`. tests/lanes.py names the parts.
ONLY ?= all
test-all: $(VENV)/test.stamp redis docker browser compilers prometheus kubernetes chaos-tools registry ## Everything, or one part: ONLY=chaos (tests/lanes.py)
	$(CHECK)
	@$(BIN)/python -m tests.run $(ONLY)

define CHECK
$(BIN)/ruff check .
$(BIN)/ruff format --check .
$(BIN)/mypy .
$(BIN)/lint-imports
endef

check: $(VENV)/test.stamp ## Format, lint, check types and imports; mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/mypy .
	$(BIN)/lint-imports

bench: $(VENV)/test.stamp docker compilers ## Measure speed
	$(BIN)/python -m tests.benchmarks

# Breaks parts under load and counts what happens to the items. It takes about an hour, as root.
reliability: $(VENV)/test.stamp redis docker compilers chaos-tools ## Measure what breaks under load, for about an hour, as root
	$(BIN)/python -m tests.load --minutes 30 --out docs/reliability.md

accuracy: $(VENV)/test.stamp ## Judge every labelled row, beside rival graders
	$(BIN)/python -m tests.accuracy

graders: $(VENV)/test.stamp $(VENV)/graders.stamp ## Judge labelled rows by the graders that trainers ship
	$(BIN)/python -m tests.graders $(VENV)/graders/bin/python $(if $(SOURCES),--sources $(SOURCES))

$(VENV)/graders.stamp: requirements/graders.txt
	$(PYTHON) -m venv $(VENV)/graders
	$(VENV)/graders/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --ignore-requires-python --require-hashes -r requirements/graders.txt
	@touch $@

# Looks for inputs that hang, crash or contradict the math verifier: `make fuzz SECONDS=3600` CPU seconds, in two processes.
SECONDS ?= 3600
fuzz: $(VENV)/test.stamp ## Look for texts that hang, crash or contradict math: SECONDS=3600
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS)

# Generates the code of the gRPC messages. The compiler is old because its output works with protobuf 4, 5, 6 and 7.
proto: ## Make the code of the gRPC messages from proto/
	$(PYTHON) -m venv .build/proto
	.build/proto/bin/pip install --quiet grpcio-tools==1.62.3 'setuptools<80'
	.build/proto/bin/python -m grpc_tools.protoc -I proto --python_out=.build --pyi_out=.build rewardline/v1/rewardline.proto
	cp .build/rewardline/v1/rewardline_pb2.py .build/rewardline/v1/rewardline_pb2.pyi client/rewardline/pb/

# Pins the packages of pyproject.toml, with hashes. The client is left out, because it is installed from its folder.
lock: ## Pin the newest packages in requirements/, with hashes
	$(PYTHON) -m venv .build/lock
	.build/lock/bin/pip install --quiet uv
	.build/lock/bin/uv pip compile --group install --universal --python-version 3.11 --upgrade --generate-hashes \
		--no-header --no-annotate --no-emit-index-url --no-emit-find-links -o requirements/install.txt
	.build/lock/bin/uv pip compile pyproject.toml --extra oidc --extra otel --group build --group box --universal --python-version 3.11 --upgrade --generate-hashes \
		--no-header --no-annotate --no-emit-index-url --no-emit-find-links --no-emit-package rewardline -o requirements/serve.txt
	.build/lock/bin/uv pip compile pyproject.toml --group build --group box --group test --group check \
		--override requirements/test-left-out.in --universal --python-version 3.11 --upgrade --generate-hashes \
		--no-header --no-annotate --no-emit-index-url --no-emit-find-links --no-emit-package rewardline -o requirements/test.txt
	.build/lock/bin/uv pip compile --group docs --constraint requirements/test.txt --universal --python-version 3.11 --upgrade --generate-hashes \
		--no-header --no-annotate --no-emit-index-url --no-emit-find-links -o requirements/docs.txt
	echo cyclonedx-bom | .build/lock/bin/uv pip compile - --universal --python-version 3.11 --upgrade --generate-hashes \
		--no-header --no-annotate --no-emit-index-url --no-emit-find-links -o deploy/release.txt

# First installs the packages and checks their hashes, then the two distributions of this repository in editable mode.
$(VENV)/serve.stamp: requirements/install.txt requirements/serve.txt pyproject.toml client/pyproject.toml client/rewardline/version.py
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "no venv module: apt-get install python3-venv"; exit 1; }
	$(PIP) --no-deps --require-hashes -r requirements/install.txt
	$(call INSTALL,--no-deps --require-hashes -r requirements/serve.txt)
	$(call INSTALL,--no-deps --no-build-isolation -e client -e .)
	@touch $@

$(VENV)/test.stamp: requirements/test.txt $(VENV)/docs.stamp
	$(call INSTALL,--no-deps --require-hashes -r requirements/test.txt)
	@touch $@

$(VENV)/docs.stamp: requirements/docs.txt $(VENV)/serve.stamp
	$(call INSTALL,--no-deps --require-hashes -r requirements/docs.txt)
	@touch $@

redis: ## Install a Redis server
	@command -v redis-server >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq redis-server; }

# A Docker daemon, Compose and gVisor, which the tests start, and the tools that make images.
docker: ## Install a Docker daemon, Compose and gVisor
	@missing=; for need in dockerd:docker.io docker-compose:docker-compose ip:iproute2 runsc:runsc mmdebstrap:mmdebstrap; do \
		command -v "$${need%%:*}" >/dev/null || missing="$$missing $${need##*:}"; \
	done; \
	[ -z "$$missing" ] || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; }

# A browser for the tests of pages.
browser: ## Install Chromium
	@command -v chromium >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; }

# Compilers for boxes without Docker and for programs in other languages.
compilers: ## Install g++ and Node.js
	@missing=; for need in g++:g++ node:nodejs; do \
		command -v "$${need%%:*}" >/dev/null || missing="$$missing $${need##*:}"; \
	done; \
	[ -z "$$missing" ] || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; }

# Prometheus tests the dashboard's queries; promtool tests the alerts.
prometheus: ## Install Prometheus
	@command -v promtool >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends prometheus; }

# A proxy in front of replicas, and a wall clock that tests can set.
chaos-tools: ## Install HAProxy and faketime
	@command -v haproxy >/dev/null && command -v faketime >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends haproxy faketime; }

# A registry, which the tests push images to and pull them from.
registry: ## Install a registry of Docker images
	@command -v docker-registry >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends docker-registry; }

# Puts kubectl and helm below .build. They render the manifests and the chart.
kubernetes: $(VENV)/test.stamp ## Fetch kubectl and helm
	@$(BIN)/python -m deploy.kubernetes.tools

# Builds the image of Docker boxes in some minutes: `make box-image LANGUAGES=python,cpp`. Needs root and a running Docker daemon.
LANGUAGES ?=
box-image: $(VENV)/serve.stamp ## Make the image of Docker boxes, as root: LANGUAGES=python,cpp
	$(BIN)/python -m sandbox.images.build --if-stale $(if $(LANGUAGES),--languages $(LANGUAGES))

# Looks up known vulnerabilities of the pinned packages in a public database. If it is not reached: "COULD NOT AUDIT", code 3.
audit: ## Look up known vulnerabilities of pinned packages
	$(PYTHON) -m deploy.audit requirements/serve.txt

# The site needs no internet to be read. A broken link or anchor ends the build.
docs: $(VENV)/docs.stamp ## Make the documentation site in .build/site
	@$(BIN)/python -m deploy.docs_site

# The files of a release below .build/release: `make release DRY=1` tries it.
DRY ?=
release: $(VENV)/docs.stamp ## Make wheels, images, SBOM, documents and checksums; DRY=1 tries it
	@$(BIN)/python -m deploy.release $(if $(DRY),--dry-run)

help: ## Show these lines
	@sed -n 's/^\([a-z-]*\):.* ## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

clean: ## Remove what these commands made in this folder
	rm -rf $(VENV) .build .mypy_cache .ruff_cache .pytest_cache
