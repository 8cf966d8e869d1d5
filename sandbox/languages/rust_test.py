"""Rust's own tests: functions with `#[test]` in one text, run one after another by the program that `rustc --test` makes."""

from dataclasses import replace

from sandbox.languages import rust

LANGUAGE = replace(
    rust.LANGUAGE,
    name="rust_test",
    aliases=(),
    tests="rust",
    compile=("rustc", "--test", *rust.LANGUAGE.compile[1:]),
    run=("{program}/program", "--test-threads=1"),
)
