"""JUnit's tests in Java: a text with classes of tests, and the Java files beside it, run by JUnit's console.

The program ends with code 1 if a test fails or there is none.
"""

from typing import Final

from sandbox.languages import Language, java

_JARS: Final = tuple(
    f"/usr/share/java/{name}.jar"
    for name in (
        "junit-jupiter-api",
        "junit-jupiter-engine",
        "junit-jupiter-params",
        "junit-vintage-engine",
        "junit-platform-commons",
        "junit-platform-console",
        "junit-platform-engine",
        "junit-platform-launcher",
        "univocity-parsers",
        "junit-platform-reporting",
        "junit4",
        "hamcrest-core",
        "opentest4j",
        "apiguardian-api",
        "picocli",
        "opentest4j-reporting-events",
        "opentest4j-reporting-schema",
    )
)
_CLASS_PATH: Final = ":".join(_JARS)

LANGUAGE = Language(
    name="junit",
    tests="java",
    source_file="Main.java",
    compile=("sh", "-c", f"{java.RENAME}\n{java.TUPLES}\nexec {java.COMPILER} -cp {_CLASS_PATH} *.java"),
    keep=("classes/*",),
    run=(
        *java.RUN_TIME,
        "-cp",
        f"{{program}}/classes:{_CLASS_PATH}",
        "org.junit.platform.console.ConsoleLauncher",
        "--disable-banner",
        "--disable-ansi-colors",
        "--fail-if-no-tests",
        "--scan-classpath={program}/classes",
    ),
    needs=("java", "javac", *_JARS),
    version=("java", "-version"),
    packages=("openjdk-17-jdk-headless", "junit5", "junit4", "libpicocli-java"),
    configuration=("/etc/java-*",),
    data_limit=False,
    cpu_factor=1.5,
    start_cpu_s=1.3,
)
