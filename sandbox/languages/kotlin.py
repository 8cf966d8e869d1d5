"""Kotlin: compiled by kotlinc; the program is the first class with a method `main`, and it runs on Java.

The standard library lies beside the compiler, or where Debian keeps it.
"""

from typing import Final

from sandbox.languages import Language, java

_COMPILE: Final = f"""\
kotlinc -nowarn -d classes main.kt || exit
name=MainKt
{java.FIND_START}
[ -n "$start" ] || {{ echo "no function is called main" >&2; exit 1; }}
{java.KEEP_START}
cd ..
cp "$(dirname "$(readlink -f "$(command -v kotlinc)")")/../lib/kotlin-stdlib.jar" . 2> /dev/null ||
    cp /usr/share/java/kotlin-stdlib.jar .
"""
_OPTIONS: Final = (
    *java.COMPILING,
    "-ea",
    "-XX:-PrintWarnings",
    # With a small nursery the heap is hardly larger than what is in use: a script has it within its own memory limit.
    "-Xmn48m",
    "-XX:MaxRAMPercentage=70",
    "-Xss64m",
)
ENVIRONMENT: Final = {"JAVA_OPTS": " ".join(_OPTIONS)}
"""The compiler's own defaults are 256 MB, and an option that Java warns of."""

LANGUAGE = Language(
    name="kotlin",
    aliases=("kt",),
    source_file="main.kt",
    compile=("sh", "-c", _COMPILE),
    keep=("classes/*", "start", "kotlin-stdlib.jar"),
    run=(*java.RUN_TIME, "-cp", "{program}/classes:{program}/kotlin-stdlib.jar", "@{program}/start"),
    needs=("kotlinc", "java"),
    version=("kotlinc", "-version"),
    packages=("kotlin", "openjdk-17-jdk-headless"),
    configuration=("/etc/java-*",),
    environment=ENVIRONMENT,
    data_limit=False,
    compile_factor=2.0,
    cpu_factor=1.5,
    start_cpu_s=0.2,
)
