"""JavaScript: run by node, as a CommonJS script, or as a module if it says `import` or `export`.

Node decides by the nearest package.json. So the "compile" step writes a package.json for a program that has such a
line. `call.js` is appended to the program for function tests. It reports the function's value in the images that
`sandbox.runner.values.encoding` defines.
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
    version=("node", "--version"),
    packages=("nodejs",),
    # V8 reserves gigabytes of address space for its code and its heap.
    data_limit=False,
    handles_children=True,
    cpu_factor=1.5,
    start_cpu_s=0.1,
    call_suffix=CALL_SUFFIX,
)
