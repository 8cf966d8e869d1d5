"""Racket: interpreted. When a check of rackunit has failed, the program ends with code 1, as under `raco test`."""

from sandbox.languages import Language

LANGUAGE = Language(
    name="racket",
    aliases=("rkt",),
    source_file="main.rkt",
    run=(
        "racket",
        "-t",
        "{program}/main.rkt",
        "-l",
        "racket/base",
        "-l",
        "raco/testing",
        "-e",
        "(void (test-report #:exit? #t))",
    ),
    needs=("racket",),
    packages=("racket",),
    data_limit=False,
    cpu_factor=1.5,
    start_cpu_s=0.8,
)
