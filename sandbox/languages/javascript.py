"""JavaScript: run by node, as a CommonJS script or, when it says `import` or `export`, as a module.

Node decides by the nearest package.json; so does "compiling", which writes one for a program that has such a line.
Functions are tested by `call.js`, which is put after the program: it tells what the function returned in the images
that `sandbox.runner.values.encoding` defines.
"""

from pathlib import Path
from typing import Final

from sandbox.languages import Language

RUN_TIME: Final = ("node",)
CALL_SUFFIX: Final = Path(__file__).with_name("call.js").read_text(encoding="utf-8")

_MARK_MODULE: Final = r"""
if grep -Eq '^[[:space:]]*(import[[:space:]{*"'\'']|export[[:space:]{*])' main.js; then
    echo '{"type": "module"}' > package.json
fi
"""

LANGUAGE = Language(
    name="javascript",
    aliases=("js", "node", "nodejs", "ecmascript", "mjs", "cjs"),
    source_file="main.js",
    compile=("sh", "-c", _MARK_MODULE),
    keep=("package.json",),
    run=(*RUN_TIME, "{program}/main.js"),
    needs=("node",),
    packages=("nodejs",),
    # V8 reserves gigabytes of address space for its code and its heap.
    data_limit=False,
    handles_children=True,
    cpu_factor=1.5,
    start_cpu_s=0.1,
    call_suffix=CALL_SUFFIX,
)
