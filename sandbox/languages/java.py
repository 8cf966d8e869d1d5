"""Java: one source text, whatever its classes are called.

Java wants a public class in a file of its name, and the class with `main` on the command line, while judged programs
come as one text in which the class may be called anything. So the text is first given the name of its public class
(an unindented one if there is one: nested classes are indented), and after it was compiled, the class to start is
looked for among what came out: one that has the words `main` and `([Ljava/lang/String;)V`, the type of main, in it,
preferably the public one, or `Main`. Its name goes to a file which `java` reads as part of its command line.
"""

from typing import Final

from sandbox.languages import Language

_COMPILE: Final = r"""
public_class() {
    sed -nE "s/^$1public +((abstract|final|sealed|strictfp) +)*(class|interface|enum|record) +([[:alnum:]_\$]+).*/\4/p" \
        Main.java | head -n 1
}
has_main() {
    grep -aqF main "$1" && grep -aqF '([Ljava/lang/String;)V' "$1"
}
name=$(public_class '')
name=${name:-$(public_class '[[:space:]]+')}
name=${name:-Main}
[ "$name" = Main ] || mv Main.java "$name.java"
javac -J-XX:+UseSerialGC -J-XX:TieredStopAtLevel=1 -J-XX:-UsePerfData -J-Xshare:auto \
    -encoding UTF-8 -nowarn -proc:none -d classes "$name.java" || exit
cd classes || exit
start=
for class in $(find . -name "$name.class") $(find . -name Main.class) $(find . -name '*.class' | sort); do
    if has_main "$class"; then start=${class#./}; break; fi
done
[ -n "$start" ] || { echo "no class has a method: public static void main(String[])" >&2; exit 1; }
printf '%s\n' "${start%.class}" | tr / . > ../start
"""

LANGUAGE = Language(
    name="java",
    aliases=("java17", "openjdk"),
    source_file="Main.java",
    compile=("sh", "-c", _COMPILE),
    keep=("classes/*", "start"),
    run=(
        "java",
        # One thread that collects garbage, no file in /tmp for monitors: what a program of some seconds needs.
        "-XX:+UseSerialGC",
        "-XX:-UsePerfData",
        "-Xshare:auto",
        # Little at first, and as much as the box has: the run's own limit is watched from outside.
        "-Xms32m",
        "-XX:MaxRAMPercentage=70",
        "-Xss64m",
        "-DONLINE_JUDGE=true",
        "-cp",
        "{program}/classes",
        "@{program}/start",
    ),
    needs=("java", "javac"),
    packages=("openjdk-17-jdk-headless",),
    data_limit=False,
    cpu_factor=1.5,
    start_cpu_s=0.3,
)
