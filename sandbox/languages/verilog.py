"""Verilog and SystemVerilog: compiled and simulated by Icarus Verilog.

The simulator ends with code 0 after `$error` and after a failed `assert`, which only write a line that names the place.
A test bench that uses them would always pass. So the simulator's log is searched for such lines, and one of them makes
the code 1.
"""

from typing import Final

from sandbox.languages import Language

_RUN: Final = r"""
vvp -n -l .log "$0/program.vvp" || exit
! grep -Eqs '^ERROR: [^ ]+:[0-9]+: ' .log
"""

LANGUAGE = Language(
    name="verilog",
    aliases=("systemverilog", "sv"),
    source_file="main.sv",
    compile=("iverilog", "-g2012", "-o", "program.vvp", "main.sv"),
    keep=("program.vvp",),
    run=("sh", "-c", _RUN, "{program}"),
    needs=("iverilog", "vvp"),
    version=("iverilog", "-V"),
    packages=("iverilog",),
)
