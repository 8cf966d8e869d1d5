"""SQL: statements for an empty SQLite database in memory. The first error ends them."""

from sandbox.languages import Language

LANGUAGE = Language(
    name="sql",
    aliases=("sqlite", "sqlite3"),
    source_file="main.sql",
    run=("sqlite3", "-batch", "-bail", ":memory:", ".read {program}/main.sql"),
    needs=("sqlite3",),
    version=("sqlite3", "--version"),
    packages=("sqlite3",),
    is_for_commands=True,
)
