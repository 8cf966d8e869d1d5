"""Ruby: interpreted."""

from sandbox.languages import Language

LANGUAGE = Language(
    name="ruby",
    aliases=("rb",),
    source_file="main.rb",
    run=("ruby", "{program}/main.rb"),
    needs=("ruby",),
    version=("ruby", "--version"),
    packages=("ruby", "ruby-test-unit"),
    handles_children=True,
    cpu_factor=1.5,
    start_cpu_s=0.1,
)
