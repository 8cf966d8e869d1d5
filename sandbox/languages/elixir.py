"""Elixir: run as a script."""

from sandbox.languages import Language

LANGUAGE = Language(
    name="elixir",
    aliases=("ex", "exs"),
    source_file="main.exs",
    run=("elixir", "--erl", "+S 1:1 +A 1", "{program}/main.exs"),
    needs=("elixir", "erl"),
    version=("elixir", "--short-version"),
    packages=("elixir",),
    data_limit=False,
    handles_children=True,
    cpu_factor=1.5,
    start_cpu_s=0.6,
)
