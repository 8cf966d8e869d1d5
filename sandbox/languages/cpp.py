"""C++: compiled by g++.

The box image holds the precompiled header `bits/stdc++.h`, which judged programs include first.

g++ uses `bits/stdc++.h.gch` instead of `bits/stdc++.h` only if every flag that changes the meaning of code was the same
when it was made. So both commands are built from `_DIALECT`. Otherwise the compiler reads the header itself, which
takes three times as long and gives the same program.
"""

from typing import Final

from sandbox.languages import Language

# Judges define ONLINE_JUDGE. Programs that see it leave out their debug output and their freopen().
_DIALECT: Final = ("-O2", "-std=gnu++20", "-DONLINE_JUDGE", "-w")

LANGUAGE = Language(
    name="cpp",
    aliases=("c++", "cc", "cxx", "g++", "gpp", "cpp17", "cpp20", "c++17", "c++20"),
    source_file="main.cpp",
    compile=("g++", *_DIALECT, "-pipe", "-o", "program", "main.cpp"),
    keep=("program",),
    run=("{program}/program",),
    needs=("g++",),
    version=("g++", "--version"),
    packages=("g++", "libc6-dev"),
)

PRECOMPILE: Final = ("g++", *_DIALECT, "-x", "c++-header", "-o", "bits/stdc++.h.gch", "bits/stdc++.h")
"""Run in the folder of g++'s own headers that holds `bits`, when an image is made."""
