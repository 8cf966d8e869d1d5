"""Verilog and SystemVerilog: compiled and simulated by Icarus Verilog."""

from sandbox.languages import Language

LANGUAGE = Language(
    name="verilog",
    aliases=("systemverilog", "sv"),
    source_file="main.sv",
    compile=("iverilog", "-g2012", "-o", "program.vvp", "main.sv"),
    keep=("program.vvp",),
    run=("vvp", "-n", "{program}/program.vvp"),
    needs=("iverilog", "vvp"),
    packages=("iverilog",),
)
