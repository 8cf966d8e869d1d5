"""CUDA: compiled by nvcc, and not run: no box has a GPU."""

from sandbox.languages import Language

LANGUAGE = Language(
    name="cuda",
    aliases=("cu", "nvcc"),
    source_file="main.cu",
    compile=("nvcc", "-O2", "-std=c++17", "-w", "-o", "program", "main.cu"),
    keep=("program",),
    run=("{program}/program",),
    needs=("nvcc",),
    version=("nvcc", "--version"),
    compile_only=True,
)
