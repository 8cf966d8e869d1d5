# The commands of this project. Everything they need beyond git, make, python3 (with venv) and apt they install.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.PHONY: serve test check bench accuracy proto lock redis clean

serve: $(VENV)/serve.stamp
	@exec $(BIN)/rewardline serve

test: $(VENV)/test.stamp redis
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .
	$(BIN)/lint-imports
	$(BIN)/pytest

check: $(VENV)/test.stamp
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/mypy .
	$(BIN)/lint-imports

bench: $(VENV)/test.stamp
	$(BIN)/python -m tests.benchmarks

accuracy: $(VENV)/test.stamp
	$(BIN)/python -m tests.accuracy

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
	.build/lock/bin/uv pip compile pyproject.toml --group build --universal --python-version 3.11 --upgrade --generate-hashes \
		--no-header --no-annotate --no-emit-index-url --no-emit-find-links --no-emit-package rewardline -o requirements/serve.txt
	.build/lock/bin/uv pip compile pyproject.toml --group build --group test --group check --universal --python-version 3.11 --upgrade --generate-hashes \
		--no-header --no-annotate --no-emit-index-url --no-emit-find-links --no-emit-package rewardline -o requirements/test.txt

# Packages first, checked against their hashes; then the two distributions of this repository as they stand.
$(VENV)/serve.stamp: requirements/serve.txt pyproject.toml client/pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "no venv module: apt-get install python3-venv"; exit 1; }
	$(PIP) install --require-hashes -r requirements/serve.txt
	$(PIP) install --no-deps --no-build-isolation -e client -e .
	@touch $@

$(VENV)/test.stamp: requirements/test.txt $(VENV)/serve.stamp
	$(PIP) install --require-hashes -r requirements/test.txt
	@touch $@

redis:
	@command -v redis-server >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq redis-server; }

clean:
	rm -rf $(VENV) .build .mypy_cache .ruff_cache .pytest_cache
