"""Jest's tests in TypeScript or JavaScript: esbuild removes the types, Jest runs the result."""

from typing import Final

from sandbox.languages import Language

_SETTINGS: Final = '{"rootDir": "{program}/tests", "testEnvironment": "node", "transform": {}}'

LANGUAGE = Language(
    name="jest",
    tests="typescript",
    source_file="main.test.ts",
    compile=(
        "esbuild",
        "main.test.ts",
        "--format=cjs",
        "--platform=node",
        "--target=node18",
        "--log-level=error",
        "--outfile=tests/main.test.js",
    ),
    keep=("tests/main.test.js",),
    run=("jest", f"--config={_SETTINGS}", "--ci", "--runInBand", "--no-cache", "--watchman=false"),
    needs=("esbuild", "node", "jest"),
    version=("jest", "--version"),
    packages=("esbuild", "nodejs", "jest"),
    data_limit=False,
    handles_children=True,
    cpu_factor=1.5,
    start_cpu_s=1.5,
)
