"""Swift: compiled by swiftc."""

from sandbox.languages import Language

LANGUAGE = Language(
    name="swift",
    source_file="main.swift",
    compile=(
        "swiftc",
        "-O",
        "-assert-config",
        "Debug",
        "-suppress-warnings",
        "-module-cache-path",
        ".cache",
        "-o",
        "program",
        "main.swift",
    ),
    keep=("program",),
    run=("{program}/program",),
    needs=("swiftc",),
    version=("swiftc", "--version"),
    data_limit=False,
)
