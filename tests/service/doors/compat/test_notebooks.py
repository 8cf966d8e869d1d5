"""Cells of SandboxFusion's `/run_jupyter`, and scripts of Open R1's router."""

import base64
from typing import Any

import pytest

from service.doors.compat import open_r1, run_jupyter
from tests.conftest import Served
from tests.service.doors.compat.recorded import JSON, answer, post, recorded

PATH = run_jupyter.PATHS[0]


def cells(served: Served, *sources: str, **more: Any) -> JSON:
    found: JSON = answer(served, PATH, {"cells": list(sources), "total_timeout": 10, **more})
    return found


@pytest.mark.parametrize("path", run_jupyter.PATHS)
def test_a_recorded_request_is_told_cell_by_cell(served: Served, path: str) -> None:
    found = answer(served, path, recorded("run_jupyter"))
    assert (found["status"], found["driver"]["status"], found["driver"]["return_code"]) == ("Success", "Finished", 0)
    cells = found["cells"]
    assert [cell["stdout"] for cell in cells] == ["", "", "123\n", "", ""]
    assert [cell["stderr"] for cell in cells] == ["", "", "", "stderr message", ""]
    assert [cell["display"] for cell in cells] == [[], [{"text/plain": "123"}], [], [], []]
    assert [len(cell["error"]) for cell in cells] == [0, 0, 0, 0, 1]
    error = cells[4]["error"][0]
    assert (error["ename"], error["evalue"]) == ("RuntimeError", "error message")
    assert '<cell 5>", line 1' in "".join(error["traceback"])
    assert "solution" not in "".join(error["traceback"])


def test_cells_share_what_they_define_and_go_on_after_an_error(served: Served) -> None:
    found = cells(
        served, "import math\ndef f(x):\n    return x * k", "k = 3", "f('a')", "f(None)", "def (", "f(2)", "_ + 1"
    )
    assert [cell["display"] for cell in found["cells"]] == [
        [], [], [{"text/plain": "'aaa'"}], [], [], [{"text/plain": "6"}], [{"text/plain": "7"}],
    ]  # fmt: skip
    assert [cell["error"][0]["ename"] for cell in found["cells"] if cell["error"]] == ["TypeError", "SyntaxError"]


PICTURE = """\
import base64, struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
png = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", header)
png += chunk(b"IDAT", zlib.compress(b"\\0\\xff\\0\\0")) + chunk(b"IEND", b"")
class Dot:
    def __repr__(self): return "a dot"
    def _repr_png_(self): return png
    def _repr_svg_(self): raise ValueError
    def _repr_html_(self): return "<b>.</b>", {"metadata": 1}
    def _repr_json_(self): return {"x": [1]}
"""


def test_pictures_are_displayed_in_order_by_media_type(served: Served) -> None:
    found = cells(
        served,
        PICTURE,
        "from IPython.display import display as show, Image, Markdown\nshow(Dot(), 1)\ndisplay(Markdown('*'))\nImage(png)",
        "base64.b64encode(png).decode()",
        "display({'text/plain': 'p', 'image/png': png, 'x': 3}, raw=True)\nDot",
    )
    assert [cell["error"] for cell in found["cells"]] == [[]] * 4
    shown = [cell["display"] for cell in found["cells"]]
    png = shown[2][0]["text/plain"].strip("'")
    assert base64.b64decode(png).startswith(b"\x89PNG")
    dot = {"text/plain": "a dot", "image/png": png, "text/html": "<b>.</b>", "application/json": {"x": [1]}}
    assert shown[1][:2] == [dot, {"text/plain": "1"}]
    assert (shown[1][2]["text/markdown"], shown[1][3]["image/png"]) == ("*", png)
    assert shown[3] == [{"text/plain": "p", "image/png": png}, {"text/plain": "<class '__main__.Dot'>"}]


FIGURES = """\
import sys, types
class Figure:
    def __init__(self, number): self.number = number
    def __repr__(self): return f"<Figure {self.number}>"
    def savefig(self, file, format, **more): file.write(f"{format} {self.number}".encode())
pyplot = types.ModuleType("matplotlib.pyplot")
pyplot.open = [1, 2]
pyplot.get_fignums = lambda: list(pyplot.open)
pyplot.figure = Figure
pyplot.close = lambda which: pyplot.open.clear()
sys.modules["matplotlib.pyplot"] = pyplot
"the value"
"""


def test_open_figures_are_displayed_at_the_end_of_their_cell(served: Served) -> None:
    found = cells(served, FIGURES, "2")
    pictures = [
        {"text/plain": f"<Figure {n}>", "image/png": base64.b64encode(f"png {n}".encode()).decode()} for n in (1, 2)
    ]
    assert found["cells"][0]["display"] == [{"text/plain": "'the value'"}, *pictures]
    assert found["cells"][1]["display"] == [{"text/plain": "2"}]


def test_cells_await_in_one_loop_and_run_commands(served: Served) -> None:
    found = cells(
        served,
        "import asyncio\nqueue = asyncio.Queue()\nawait queue.put(5)",
        "await queue.get() + 1",
        "%matplotlib inline\nif True:\n    !echo 'a  b' \"c\"\n3 % 2",
        "%unknown",
    )
    assert [len(cell["error"]) for cell in found["cells"]] == [0, 0, 0, 1]
    assert found["cells"][1]["display"] == [{"text/plain": "6"}]
    assert (found["cells"][2]["stdout"], found["cells"][2]["display"]) == ("a  b c\n", [{"text/plain": "1"}])


def test_what_other_processes_and_descriptors_write_belongs_to_the_cell(served: Served) -> None:
    found = cells(
        served, "import os, subprocess\nos.write(2, b'two')\nsubprocess.run(['echo', 'one'])\nNone", "print('x')"
    )
    assert [(cell["stdout"], cell["stderr"]) for cell in found["cells"]] == [("one\n", "two"), ("x\n", "")]


def test_classes_of_a_cell_can_be_pickled(served: Served) -> None:
    found = cells(served, "import pickle\nclass A: pass", "type(pickle.loads(pickle.dumps(A()))).__name__")
    assert found["cells"][1]["display"] == [{"text/plain": "'A'"}]


def test_files_go_in_and_come_back_without_ours(served: Served) -> None:
    found = cells(
        served,
        "import os\nprint(os.listdir())\nopen('out', 'w').write(open('a/b').read() * 2)\nNone",
        files={"a/b": base64.b64encode(b"hi").decode()},
        fetch_files=["out", "absent"],
    )
    assert found["cells"][0]["stdout"] == "['a']\n"
    assert found["files"] == {"out": base64.b64encode(b"hihi").decode()}


@pytest.mark.parametrize(
    ("source", "more", "driver", "code"),
    [
        ("while True: pass", {"total_timeout": 1}, "TimeLimitExceeded", None),
        ("import time; time.sleep(60)", {"cell_timeout": 0.5}, "TimeLimitExceeded", None),
        ("import os; os._exit(3)", {}, "Finished", 3),
        ("import os; os._exit(0)", {}, "Finished", 0),
        ("x = bytearray(600 << 20)\nlen(x)", {"memory_limit_MB": 100}, None, None),
    ],
)
def test_a_process_that_ends_early_has_no_cells(
    served: Served, source: str, more: JSON, driver: str | None, code: int | None
) -> None:
    found = cells(served, "1", source, "2", **more)
    if driver is None:  # the interpreter may still raise MemoryError
        assert found["status"] == "Failed" or found["cells"][1]["error"][0]["ename"] == "MemoryError"
        return
    assert (found["status"], found["cells"]) == ("Failed", [])
    assert (found["driver"]["status"], found["driver"]["return_code"]) == (driver, code)


def test_leaving_by_the_front_door_is_an_error_of_the_cell(served: Served) -> None:
    found = cells(served, "import sys; sys.exit(2)", "1 + 1")
    assert found["cells"][0]["error"][0]["ename"] == "SystemExit"
    assert found["cells"][1]["display"] == [{"text/plain": "2"}]


def test_a_report_of_the_cells_own_is_none(served: Served) -> None:
    forged = "import os\nopen('.rewardline-report.json', 'w').write('[]')\nos._exit(0)"
    assert cells(served, forged)["status"] == "Failed"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"cells": []},
        {"cells": [1]},
        {"cells": ["1"], "kernel": "ir"},
        {"cells": ["1"], "total_timeout": 0},
        {"cells": ["1"], "files": {"../x": ""}},
        {"cells": ["1"], "files": {"a": "no base64!"}},
    ],
)
def test_what_is_no_notebook_is_refused(served: Served, body: JSON) -> None:
    assert post(served, PATH, body).status_code == 422


def test_a_recorded_batch_of_open_r1_gives_each_script_its_value(served: Served) -> None:
    found = answer(served, open_r1.PATH, recorded("open_r1"))
    assert [set(one) for one in found] == [{"execution", "exception_str"}]
    execution = found[0]["execution"]
    assert set(execution) == {"results", "logs", "error", "execution_count"}
    assert float(next(one["text"] for one in execution["results"] if one["is_main_result"])) == 0.5


def test_scripts_keep_their_order_and_what_did_not_end_has_no_execution(served: Served) -> None:
    scripts = ["1", "raise ValueError('no')", "import os; os._exit(1)", "while True: pass", "print('out'); 5", "None"]
    languages = ["python"] * 5 + ["r"]
    found = answer(served, open_r1.PATH, {"scripts": scripts, "languages": languages, "timeout": 1})
    assert [one["execution"] is None for one in found] == [False, False, True, True, False, True]
    assert [one["exception_str"] is None for one in found] == [True, True, False, False, True, False]
    assert found[1]["execution"]["error"]["name"] == "ValueError"
    assert found[4]["execution"]["logs"] == {"stdout": ["out\n"], "stderr": []}
    assert found[4]["execution"]["results"][0]["text"] == "5"


def test_scripts_that_are_not_run_in_time_are_told_so(served: Served) -> None:
    body = {"scripts": ["import time; time.sleep(30)"] * 3, "languages": ["python"] * 3, "timeout": 30}
    found = answer(served, f"{open_r1.PATH}?deadline_s=2", body)
    assert [(one["execution"], "deadline" in one["exception_str"]) for one in found] == [(None, True)] * 3


def test_older_routers_say_the_language_once_and_empty_batches_are_answered(served: Served) -> None:
    body = {"scripts": ["2 * 3"], "language": "python", "timeout": 5, "request_timeout": 5}
    assert answer(served, open_r1.PATH, body)[0]["execution"]["results"][0]["text"] == "6"
    assert answer(served, open_r1.PATH, {"scripts": [], "languages": [], "timeout": 5}) == []
    assert post(served, open_r1.PATH, {"scripts": ["1"], "languages": [], "timeout": 5}).status_code == 422
