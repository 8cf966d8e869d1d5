"""Scala: compiled by scalac; the program is the first object with a method `main`, and it runs on Java."""

from typing import Final

from sandbox.languages import Language, java

_LIBRARY: Final = "/usr/share/java/scala-library.jar"
_COMPILE: Final = f"""\
mkdir classes && scalac -J-XX:+UseSerialGC -J-XX:TieredStopAtLevel=1 -nowarn -d classes main.scala || exit
name=Main
{java.FIND_START}
[ -n "$start" ] || {{ echo "no object has a method: def main(args: Array[String])" >&2; exit 1; }}
{java.KEEP_START}"""

LANGUAGE = Language(
    name="scala",
    source_file="main.scala",
    compile=("sh", "-c", _COMPILE),
    keep=("classes/*", "start"),
    run=(*java.RUN_TIME, "-cp", f"{{program}}/classes:{_LIBRARY}", "@{program}/start"),
    needs=("scalac", "java", _LIBRARY),
    version=("scalac", "-version"),
    packages=("scala", "openjdk-17-jdk-headless"),
    configuration=("/etc/java-*",),
    data_limit=False,
    compile_factor=2.0,
    cpu_factor=1.5,
    start_cpu_s=0.5,
)
