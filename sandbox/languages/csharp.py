"""C#: compiled by Mono's compiler.

Mono says nothing when `Debug.Assert` fails, and the program goes on. Tests that are written with it would all pass. So
each program gets a listener that ends it with the code of an abort, as .NET does; the program's configuration file
names it.
"""

from typing import Final

from sandbox.languages import Language

_LISTENER: Final = """\
namespace Rewardline {
    public class FailedAssertions : System.Diagnostics.TraceListener {
        public override void Fail(string message, string detail) {
            System.Console.Out.Flush();
            System.Console.Error.WriteLine("Assertion failed: " + message + " " + detail);
            System.Environment.Exit(134);
        }
        public override void Write(string message) { }
        public override void WriteLine(string message) { }
    }
}
"""
_CONFIGURATION: Final = """\
<configuration><system.diagnostics><trace><listeners>
<clear/><add name="assertions" type="Rewardline.FailedAssertions, program"/>
</listeners></trace></system.diagnostics></configuration>
"""
_NUMERICS: Final = "/usr/lib/mono/4.5/System.Numerics.dll"
_COMPILE: Final = f"""\
cat > assertions.cs << 'END'
{_LISTENER}END
cat > program.exe.config << 'END'
{_CONFIGURATION}END
exec mcs -optimize+ -warn:0 -define:DEBUG -define:TRACE -define:ONLINE_JUDGE -reference:{_NUMERICS} \\
    -out:program.exe main.cs assertions.cs
"""

LANGUAGE = Language(
    name="csharp",
    aliases=("c#", "cs", "mono"),
    source_file="main.cs",
    compile=("sh", "-c", _COMPILE),
    keep=("program.exe", "program.exe.config"),
    run=("mono", "{program}/program.exe"),
    needs=("mcs", "mono", _NUMERICS),
    version=("mono", "--version"),
    packages=("mono-mcs", "mono-runtime", "libmono-system-numerics4.0-cil", "libmono-system-core4.0-cil"),
    configuration=("/etc/mono",),
    needs_proc=True,
    data_limit=False,
    cpu_factor=1.5,
    start_cpu_s=0.1,
)
