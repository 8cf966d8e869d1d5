"""OCaml: compiled to machine code, with the libraries `str` and `unix`."""

from sandbox.languages import Language

LANGUAGE = Language(
    name="ocaml",
    aliases=("ml", "caml"),
    source_file="main.ml",
    compile=(
        "ocamlfind",
        "ocamlopt",
        "-package",
        "str,unix",
        "-linkpkg",
        "-w",
        "-a",
        "-O3",
        "-o",
        "program",
        "main.ml",
    ),
    keep=("program",),
    run=("{program}/program",),
    needs=("ocamlfind", "ocamlopt"),
    version=("ocamlfind", "ocamlopt", "-version"),
    packages=("ocaml-nox", "ocaml-findlib", "gcc", "libc6-dev"),
    configuration=("/etc/ocamlfind.conf",),
)
