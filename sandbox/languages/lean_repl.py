"""The read-eval-print loop of Lean 4: the commands are its standard input, JSON with blank lines between them.

`lean-repl` is a script that sets `LEAN_PATH` and `LEAN_SYSROOT` and starts leanprover-community/repl (docs/lean.md).
"""

from sandbox.languages import Language

LANGUAGE = Language(
    name="lean_repl",
    source_file="main.jsonl",
    run=("lean-repl",),
    needs=("lean-repl",),
    version=("lean", "--version"),
    data_limit=False,  # libraries are mapped privately, which counts as data: several GB of Mathlib
    environment={"LEAN_NUM_THREADS": "1"},
    start_cpu_s=10.0,
)
