"""Perl: interpreted. The module `Test::Deep` is there, which tests of MultiPL-E use."""

from sandbox.languages import Language

LANGUAGE = Language(
    name="perl",
    aliases=("pl",),
    source_file="main.pl",
    run=("perl", "{program}/main.pl"),
    # Its library of tests comes with this one; a minimal Debian has only the interpreter.
    needs=("perl", "prove"),
    version=("perl", "-v"),
    packages=("perl", "libtest-deep-perl"),
    configuration=("/etc/perl",),
    handles_children=True,
    cpu_factor=1.5,
)
