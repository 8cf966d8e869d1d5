"""CUDA: compiled by nvcc. Where there is no GPU, a program that compiles ends with CUDA's own error."""

from sandbox.languages import Language

LANGUAGE = Language(
    name="cuda",
    aliases=("cu", "nvcc"),
    source_file="main.cu",
    compile=("nvcc", "-O2", "-std=c++17", "-w", "-o", "program", "main.cu"),
    keep=("program",),
    run=("{program}/program",),
    needs=("nvcc",),
    # Its driver maps the memory of the GPU.
    data_limit=False,
)
