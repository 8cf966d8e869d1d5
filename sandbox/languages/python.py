"""Python: run by the runner's own warm interpreter, one fork per run."""

from sandbox.languages import Language

LANGUAGE = Language(
    name="python",
    aliases=("py", "python3", "py3", "pypy", "pypy3", "cpython", "python_gpu"),
    source_file="main.py",
    run=(),
    packages=(
        "python3-minimal",
        "python3-numpy",
        "python3-pandas",
        "python3-sympy",
        "python3-pytest",
        "python3-sortedcontainers",
    ),
)
