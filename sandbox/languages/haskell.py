"""Haskell: compiled by GHC."""

from sandbox.languages import Language

LANGUAGE = Language(
    name="haskell",
    aliases=("hs", "ghc"),
    source_file="main.hs",
    # Optimisation alone would leave out assertions.
    compile=("ghc", "-v0", "-O1", "-fno-ignore-asserts", "-w", "-o", "program", "-outputdir", "objects", "main.hs"),
    keep=("program",),
    run=("{program}/program",),
    needs=("ghc",),
    version=("ghc", "--version"),
    packages=("ghc",),
    configuration=("/var/lib/ghc",),
    # Its run time reserves a terabyte of address space.
    data_limit=False,
)
