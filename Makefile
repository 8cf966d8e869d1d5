# The commands of this project. Everything they need beyond git, make, python3 (with venv) and apt they install.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.PHONY: serve test check bench accuracy fuzz proto lock redis docker box-image clean

serve: $(VENV)/serve.stamp
	@exec $(BIN)/rewardline serve

# What takes long begins at once, behind everything else: the box image, and ten CPU minutes of fuzzing, whose findings
# are looked at by the last tests. Neither outlives the tests.
test: export FUZZING_BEGUN := $(CURDIR)/.build/fuzzing
test: $(VENV)/test.stamp redis docker
	@rm -rf "$$FUZZING_BEGUN"; mkdir -p "$$FUZZING_BEGUN"; \
	setsid nice -n 5 $(BIN)/python -m tests.dockerd & image=$$!; \
	setsid sh -c 'nice -n 10 $(BIN)/python -m tests.fuzz --seconds 620 --seed 1 --out "$$FUZZING_BEGUN" \
		>"$$FUZZING_BEGUN/log.txt" 2>&1; touch "$$FUZZING_BEGUN/ended"' & fuzzing=$$!; \
	trap 'code=$$?; set +ex; kill -s TERM -- -$$image -$$fuzzing 2>/dev/null; wait; exit $$code' EXIT; \
	trap 'exit 130' INT TERM; \
	set -ex; \
	$(BIN)/ruff check .; \
	$(BIN)/ruff format --check .; \
	$(BIN)/mypy .; \
	$(BIN)/lint-imports; \
	$(BIN)/pytest

check: $(VENV)/test.stamp
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/mypy .
	$(BIN)/lint-imports

bench: $(VENV)/test.stamp docker
	$(BIN)/python -m tests.benchmarks

accuracy: $(VENV)/test.stamp
	$(BIN)/python -m tests.accuracy

# Looks for inputs that hang, crash or contradict the math verifier: `make fuzz SECONDS=3600` CPU seconds, in two processes.
SECONDS ?= 3600
fuzz: $(VENV)/test.stamp
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS)

# Code for the gRPC messages, made by an old compiler because its output imports under protobuf 4, 5, 6 and 7.
proto:
	$(PYTHON) -m venv .build/proto
	.build/proto/bin/pip install --quiet grpcio-tools==1.62.3 'setuptools<80'
	.build/proto/bin/python -m grpc_tools.protoc -I proto --python_out=.build --pyi_out=.build rewardline/v1/rewardline.proto
	cp .build/rewardline/v1/rewardline_pb2.py .build/rewardline/v1/rewardline_pb2.pyi service/pb/
	cp .build/rewardline/v1/rewardline_pb2.py .build/rewardline/v1/rewardline_pb2.pyi client/rewardline/pb/

# Pins with hashes, from pyproject.toml. The client is installed from its folder, so it is left out.
lock:
	$(PYTHON) -m venv .build/lock
	.build/lock/bin/pip install --quiet uv
	.build/lock/bin/uv pip compile pyproject.toml --group build --group box --universal --python-version 3.11 --upgrade --generate-hashes \
		--no-header --no-annotate --no-emit-index-url --no-emit-find-links --no-emit-package rewardline -o requirements/serve.txt
	.build/lock/bin/uv pip compile pyproject.toml --group build --group box --group test --group check --universal --python-version 3.11 --upgrade --generate-hashes \
		--no-header --no-annotate --no-emit-index-url --no-emit-find-links --no-emit-package rewardline -o requirements/test.txt

# Packages first, checked against their hashes; then the two distributions of this repository as they stand.
$(VENV)/serve.stamp: requirements/serve.txt pyproject.toml client/pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "no venv module: apt-get install python3-venv"; exit 1; }
	$(PIP) install --no-deps --require-hashes -r requirements/serve.txt
	$(PIP) install --no-deps --no-build-isolation -e client -e .
	@touch $@

$(VENV)/test.stamp: requirements/test.txt $(VENV)/serve.stamp
	$(PIP) install --no-deps --require-hashes -r requirements/test.txt
	@touch $@

redis:
	@command -v redis-server >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq redis-server; }

# A Docker daemon and gVisor for the tests to start, what box images are made with, and compilers for boxes without Docker.
docker:
	@missing=; for need in dockerd:docker.io runsc:runsc mmdebstrap:mmdebstrap g++:g++ node:nodejs; do \
		command -v "$${need%%:*}" >/dev/null || missing="$$missing $${need##*:}"; \
	done; \
	[ -z "$$missing" ] || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; }

# The image of Docker boxes, as root, with a Docker daemon running: `make box-image LANGUAGES=python,cpp`; some minutes.
LANGUAGES ?=
box-image: $(VENV)/serve.stamp
	$(BIN)/python -m sandbox.images.build --if-stale $(if $(LANGUAGES),--languages $(LANGUAGES))

clean:
	rm -rf $(VENV) .build .mypy_cache .ruff_cache .pytest_cache
