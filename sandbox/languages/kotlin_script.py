"""Kotlin as a script: compiled and run in one go by kotlinc."""

from sandbox.languages import Language

LANGUAGE = Language(
    name="kotlin_script",
    aliases=("kts",),
    source_file="main.kts",
    run=("kotlinc", "-nowarn", "-script", "{program}/main.kts"),
    needs=("kotlinc", "java"),
    packages=("kotlin", "openjdk-17-jdk-headless"),
    data_limit=False,
    cpu_factor=1.5,
    # The compiler's own time.
    start_cpu_s=10.0,
)
