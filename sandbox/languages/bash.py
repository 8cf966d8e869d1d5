"""Bash: interpreted; what it can call is what the box has, which is little."""

from sandbox.languages import Language

LANGUAGE = Language(
    name="bash",
    aliases=("sh", "shell"),
    source_file="main.sh",
    run=("bash", "{program}/main.sh"),
    needs=("bash",),
    packages=("bash", "bc", "gawk"),
)
