"""Java: one source text; its classes may have any name.

Java needs a public class in a file of the same name, and the class with `main` on the command line. But judged programs
are one text, and its class may have any name. So the text is first renamed after its public class (an unindented one if
possible: nested classes are indented). After the compilation, the start class is searched among the class files: one
that contains the words `main` and `([Ljava/lang/String;)V`, the type of main, preferably the public class, or `Main`.
Its name is written to a file that `java` reads as part of its command line.

A program that names `org.javatuples` gets classes of these names: the rows of MultiPL-E import that library, and Debian
does not have it.
"""

from typing import Final

from sandbox.languages import Language

RUN_TIME: Final = (
    "java",
    # For a program of some seconds: one thread for garbage collection, no file in /tmp for monitors.
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
    "-Xshare:auto",
    # A small heap at first, and up to the box's memory: the run's own limit is enforced from outside.
    "-Xms32m",
    "-XX:MaxRAMPercentage=70",
    "-Xss64m",
    "-DONLINE_JUDGE=true",
    # Tests are written with `assert`, too.
    "-ea",
)
COMPILING: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xshare:auto")
"""Options of Java for compilers, which run for a second or a few."""
COMPILER: Final = f"javac {' '.join('-J' + option for option in COMPILING)} -encoding UTF-8 -nowarn -proc:none -sourcepath . -d classes"
RENAME: Final = r"""
public_class() {
    sed -nE "s/^$1public +((abstract|final|sealed|strictfp) +)*(class|interface|enum|record) +([[:alnum:]_\$]+).*/\4/p" \
        Main.java | head -n 1
}
name=$(public_class '')
name=${name:-$(public_class '[[:space:]]+')}
name=${name:-Main}
[ "$name" = Main ] || mv Main.java "$name.java"
"""
"""Names the file after its public class, and keeps the class's name in `$name`."""
_TUPLE: Final = """\
package org.javatuples;
import java.util.*;
public abstract class Tuple implements Iterable<Object> {
    private final List<Object> values;
    protected Tuple(Object... values) { this.values = Collections.unmodifiableList(Arrays.asList(values)); }
    public int getSize() { return values.size(); }
    public Object getValue(int position) { return values.get(position); }
    public boolean contains(Object value) { return values.contains(value); }
    public List<Object> toList() { return values; }
    public Object[] toArray() { return values.toArray(); }
    public Iterator<Object> iterator() { return values.iterator(); }
    public boolean equals(Object other) {
        return other != null && other.getClass() == getClass() && values.equals(((Tuple) other).values);
    }
    public int hashCode() { return values.hashCode(); }
    public String toString() { return values.toString(); }
}
"""
_TUPLE_NAMES: Final = ["Unit", "Pair", "Triplet", "Quartet", "Quintet", "Sextet", "Septet", "Octet", "Ennead", "Decade"]


def _tuple_class(name: str, size: int) -> str:
    kinds, values = [f"T{n}" for n in range(size)], [f"value{n}" for n in range(size)]
    type_name = f"{name}<{', '.join(kinds)}>"
    parameters = ", ".join(f"{kind} {value}" for kind, value in zip(kinds, values, strict=True))
    lines = [
        f"package org.javatuples;\npublic final class {type_name} extends Tuple {{",
        f"public {name}({parameters}) {{ super({'(Object) ' if size == 1 else ''}{', '.join(values)}); }}",
        f"public static <{', '.join(kinds)}> {type_name} with({parameters}) {{ return new {name}<>({', '.join(values)}); }}",
    ]
    for n, kind in enumerate(kinds):
        values_kept = [f"getValue{m}()" if m != n else "value" for m in range(size)]
        changed = f"{name}<{', '.join('T' if m == n else f'T{m}' for m in range(size))}>"
        lines += [
            f'@SuppressWarnings("unchecked") public {kind} getValue{n}() {{ return ({kind}) getValue({n}); }}',
            f"public <T> {changed} setAt{n}(T value) {{ return new {name}<>({', '.join(values_kept)}); }}",
        ]
    return "\n".join((*lines, "}\n"))


def _with_tuples() -> str:
    """A script that writes the sources of the tuples for a program that names them."""
    sources = {"Tuple": _TUPLE, **{name: _tuple_class(name, n) for n, name in enumerate(_TUPLE_NAMES, 1)}}
    writes = [f"cat > org/javatuples/{name}.java << 'END'\n{source}END" for name, source in sources.items()]
    return "\n".join(("if grep -q org.javatuples *.java; then", "mkdir -p org/javatuples", *writes, "fi"))


TUPLES: Final = _with_tuples()
FIND_START: Final = r"""
has_main() {
    grep -aqF main "$1" && grep -aqF '([Ljava/lang/String;)V' "$1"
}
cd classes || exit
start=
for class in $(find . -name "$name.class") $(find . -name Main.class) $(find . -name '*.class' ! -name '*$.class' | sort); do
    if has_main "$class"; then start=${class#./}; break; fi
done
"""
"""Sets `$start` to the class file to start with, preferably that of the class `$name`."""
KEEP_START: Final = r"""
printf '%s\n' "${start%.class}" | tr / . > ../start
"""

_COMPILE: Final = f"""\
{RENAME}
{TUPLES}
{COMPILER} "$name.java" || exit
{FIND_START}
[ -n "$start" ] || {{ echo "no class has a method: public static void main(String[])" >&2; exit 1; }}
{KEEP_START}"""

LANGUAGE = Language(
    name="java",
    aliases=("java17", "openjdk"),
    source_file="Main.java",
    compile=("sh", "-c", _COMPILE),
    keep=("classes/*", "start"),
    run=(*RUN_TIME, "-cp", "{program}/classes", "@{program}/start"),
    needs=("java", "javac"),
    version=("java", "-version"),
    packages=("openjdk-17-jdk-headless",),
    configuration=("/etc/java-*",),
    data_limit=False,
    cpu_factor=1.5,
    start_cpu_s=0.3,
)
