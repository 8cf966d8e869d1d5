"""Julia: interpreted, without anybody's start-up file."""

from sandbox.languages import Language

LANGUAGE = Language(
    name="julia",
    aliases=("jl",),
    source_file="main.jl",
    run=("julia", "--startup-file=no", "--history-file=no", "--threads=1", "{program}/main.jl"),
    needs=("julia",),
    version=("julia", "--version"),
    data_limit=False,
    cpu_factor=1.5,
    start_cpu_s=1.0,
)
