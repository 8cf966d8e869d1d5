"""Lean 4: each file is elaborated, and its `#eval` commands are run. An error of the elaborator ends it with code 1."""

from sandbox.languages import Language

LANGUAGE = Language(
    name="lean",
    aliases=("lean4",),
    source_file="main.lean",
    run=("lean", "--threads=1", "{program}/main.lean"),
    needs=("lean",),
    version=("lean", "--version"),
    data_limit=False,
    start_cpu_s=1.0,
)
