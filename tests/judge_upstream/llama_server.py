"""llama.cpp's own HTTP server in this process: `llama_server.py MODEL SLOTS [POOLING]`. Prints its address, ends with its input.

With a kind of pooling (MEAN, NONE, RANK) it gives vectors.
"""

import sys

import xllamacpp


def main(model: str, slots: int, pooling: str | None = None) -> None:
    params = xllamacpp.CommonParams()
    if pooling is not None:
        params.embedding = True
        params.pooling_type = getattr(xllamacpp.llama_pooling_type, f"LLAMA_POOLING_TYPE_{pooling}")
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
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
