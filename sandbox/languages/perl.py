"""Perl: interpreted. The module `Test::Deep` is there, which tests of MultiPL-E use."""

from sandbox.languages import Language

LANGUAGE = Language(
    name="perl",
    aliases=("pl",),
    source_file="main.pl",
    run=("perl", "{program}/main.pl"),
    needs=("perl",),
    packages=("perl", "libtest-deep-perl"),
    handles_children=True,
    cpu_factor=1.5,
)
