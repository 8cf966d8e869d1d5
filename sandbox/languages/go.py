"""Go: compiled by the go command, with no module file and no network.

The command needs a home and a cache of its own. Both are in the directory where it compiles, and stay behind there.
When the toolchain's folder holds the standard library already compiled (Go up to 1.19, which Debian 12 has), only the
program itself is compiled.
"""

from typing import Final

from sandbox.languages import Language

_ALONE: Final = (
    'export HOME="$PWD" GOCACHE="$PWD/.cache" GOTMPDIR="$PWD" GO111MODULE=off GOTOOLCHAIN=local CGO_ENABLED=0'
)


def compiling(command: str) -> str:
    """A script that runs a command of Go, with a home of its own and no network."""
    return f"{_ALONE}\nexec {command}\n"


LANGUAGE = Language(
    name="go",
    aliases=("golang",),
    source_file="main.go",
    compile=("sh", "-c", compiling("go build -p 1 -ldflags='-s -w' -o program main.go")),
    keep=("program",),
    run=("{program}/program",),
    needs=("go",),
    version=("go", "version"),
    packages=("golang-go",),
    # The garbage collector reserves address space in large pieces.
    data_limit=False,
    # Newer Go compiles the standard library, too.
    compile_factor=2.0,
)
