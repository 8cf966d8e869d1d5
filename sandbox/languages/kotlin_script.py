"""Kotlin as a script: compiled and run in one go by kotlinc."""

from sandbox.languages import Language
from sandbox.languages.kotlin import ENVIRONMENT

LANGUAGE = Language(
    name="kotlin_script",
    tests="kotlin",
    aliases=("kts",),
    source_file="main.kts",
    run=("kotlinc", "-nowarn", "-script", "{program}/main.kts"),
    needs=("kotlinc", "java"),
    version=("kotlinc", "-version"),
    packages=("kotlin", "openjdk-17-jdk-headless"),
    configuration=("/etc/java-*",),
    environment=ENVIRONMENT,
    data_limit=False,
    cpu_factor=1.5,
    # The compiler's own time.
    start_cpu_s=6.0,
)
