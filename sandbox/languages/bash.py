"""Bash: interpreted. It can call only the few programs that the box has."""

from sandbox.languages import Language

LANGUAGE = Language(
    name="bash",
    aliases=("sh", "shell"),
    source_file="main.sh",
    run=("bash", "{program}/main.sh"),
    needs=("bash",),
    version=("bash", "--version"),
    packages=("bash", "bc", "gawk"),
    is_for_commands=True,
)
