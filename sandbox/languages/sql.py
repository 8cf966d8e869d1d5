"""SQL: statements for an empty SQLite database in memory. The first error ends them."""

from sandbox.languages import Language

LANGUAGE = Language(
    name="sql",
    aliases=("sqlite", "sqlite3"),
    source_file="main.sql",
    run=("sh", "-c", 'exec sqlite3 -batch -bail :memory: < "$0/main.sql"', "{program}"),
    needs=("sqlite3",),
    packages=("sqlite3",),
)
