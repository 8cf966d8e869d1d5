"""TypeScript: esbuild removes the types without checking them, as test runners do; node runs the result."""

from sandbox.languages import Language
from sandbox.languages.javascript import CALL_SUFFIX, RUN_TIME

LANGUAGE = Language(
    name="typescript",
    aliases=("ts",),
    source_file="main.ts",
    compile=(
        "esbuild",
        "main.ts",
        "--format=cjs",
        "--platform=node",
        "--target=node18",
        "--log-level=error",
        "--outfile=program.js",
    ),
    keep=("program.js",),
    run=(*RUN_TIME, "{program}/program.js"),
    needs=("esbuild", "node"),
    version=("esbuild", "--version"),
    packages=("esbuild", "nodejs"),
    data_limit=False,
    handles_children=True,
    cpu_factor=1.5,
    start_cpu_s=0.1,
    call_suffix=CALL_SUFFIX,
)
