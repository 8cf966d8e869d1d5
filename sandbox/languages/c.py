"""C: compiled by gcc as most judges do."""

from sandbox.languages import Language

LANGUAGE = Language(
    name="c",
    source_file="main.c",
    # Judges define ONLINE_JUDGE. Programs that see it leave out their debug output and their freopen().
    compile=("gcc", "-O2", "-std=gnu17", "-DONLINE_JUDGE", "-w", "-pipe", "-o", "program", "main.c", "-lm"),
    keep=("program",),
    run=("{program}/program",),
    needs=("gcc",),
    version=("gcc", "--version"),
    packages=("gcc", "libc6-dev"),
)
