"""Rust: compiled by rustc alone, without cargo; only the standard library can be used."""

from sandbox.languages import Language

LANGUAGE = Language(
    name="rust",
    aliases=("rs",),
    source_file="main.rs",
    compile=("rustc", "--edition=2021", "-O", "--cap-lints=allow", "--cfg=online_judge", "-o", "program", "main.rs"),
    keep=("program",),
    run=("{program}/program",),
    needs=("rustc",),
    version=("rustc", "--version"),
    # Debian 12's own rustc is from 2022. This package is kept up to date, because browsers are built with it.
    packages=("rustc-web",),
)
