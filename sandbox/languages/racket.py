"""Racket: interpreted. A program's submodule `test` is run, too, as by `raco test`.

A failed check of rackunit is only written. So the program ends with code 1 if its log of tests has a failure.
"""

from typing import Final

from sandbox.languages import Language

_TESTS: Final = """\
(let ([tests '(submod (file "{program}/main.rkt") test)])
  (when (module-declared? tests #t) (dynamic-require tests #f)))
(void (test-log #:exit? #t))
"""

LANGUAGE = Language(
    name="racket",
    aliases=("rkt",),
    source_file="main.rkt",
    run=("racket", "-t", "{program}/main.rkt", "-l", "racket/base", "-l", "rackunit/log", "-e", _TESTS),
    needs=("racket",),
    version=("racket", "--version"),
    packages=("racket",),
    configuration=("/etc/racket",),
    data_limit=False,
    cpu_factor=1.5,
    start_cpu_s=0.8,
)
