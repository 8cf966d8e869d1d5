"""D's own tests: the blocks `unittest` of a program are run, and `main`, if it has one, is not."""

from sandbox.languages import Language
from sandbox.languages.d import COMPILER

LANGUAGE = Language(
    name="d_ut",
    tests="d",
    source_file="main.d",
    compile=(*COMPILER, "-unittest", "-main", "main.d"),
    keep=("program",),
    run=("{program}/program",),
    needs=("ldc2",),
    version=("ldc2", "--version"),
    packages=("ldc", "gcc", "libc6-dev"),
    configuration=("/etc/ldc2.conf",),
)
