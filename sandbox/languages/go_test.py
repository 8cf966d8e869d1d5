"""Go's own tests: functions `TestXxx` in one text, run by the program that `go test -c` makes."""

from sandbox.languages import Language
from sandbox.languages.go import compiling

LANGUAGE = Language(
    name="go_test",
    tests="go",
    source_file="main_test.go",
    compile=("sh", "-c", compiling("go test -c -p 1 -ldflags='-s -w' -o program main_test.go")),
    keep=("program",),
    run=("{program}/program",),
    needs=("go",),
    version=("go", "version"),
    packages=("golang-go",),
    data_limit=False,
    # Newer Go compiles the standard library, too.
    compile_factor=2.0,
)
