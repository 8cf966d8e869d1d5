"""llama.cpp's own HTTP server in this process: `llama_server.py MODEL SLOTS`. Prints its address, ends with its input."""

import sys

import xllamacpp


def main(model: str, slots: int) -> None:
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {"tiny-judge"}
    params.verbosity = -1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = slots
    params.n_ctx = 2048 * slots
    params.endpoint_metrics = True
    # Threads of such a small model wait for each other longer than they work, above all on a busy machine.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
