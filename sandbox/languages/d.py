"""D: compiled by LDC."""

from typing import Final

from sandbox.languages import Language

COMPILER: Final = ("ldc2", "-O", "-w", "-of=program")

LANGUAGE = Language(
    name="d",
    aliases=("dlang",),
    source_file="main.d",
    compile=(*COMPILER, "main.d"),
    keep=("program",),
    run=("{program}/program",),
    needs=("ldc2",),
    version=("ldc2", "--version"),
    packages=("ldc", "gcc", "libc6-dev"),
    configuration=("/etc/ldc2.conf",),
)
