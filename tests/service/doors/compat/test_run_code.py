"""The `/run_code` door: what it asks of a box and how it tells the outcome; then clients as verl and ROLL have them."""

import base64
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import aiohttp
import httpx
import msgspec
import pytest

from sandbox import languages
from sandbox.base import Built, Exit, RunResult
from sandbox.languages import Language
from service.doors.compat.run_code import MAX_FILES, RunCodeRequest, RunCodeResponse, answer_of, order_of
from service.errors import Unprocessable
from service.settings import Settings
from tests.conftest import ROOT, Served, serving
from tests.waiting import PATIENCE_S, eventually

JSON = dict[str, Any]
KEY = "0123456789abcdef-a-key"
SETTINGS = Settings(max_run_s=30, box_memory_mb=1024)


def language(name: str) -> Language:
    found = languages.find(name)
    assert found is not None
    return found


def request(**fields: Any) -> RunCodeRequest:
    return msgspec.convert({"code": "print(1)", "language": "python", **fields}, RunCodeRequest)


def test_limits_are_what_was_asked_for_within_what_may_be_had() -> None:
    order = order_of(request(run_timeout=5, compile_timeout=7, memory_limit_MB=100), SETTINGS)
    assert (order.run.limits.cpu_s, order.program.compile_limits.cpu_s, order.run.limits.memory_mb) == (5, 7, 100)
    order = order_of(request(run_timeout=500, compile_timeout=500, memory_limit_MB=9e9), SETTINGS)
    assert (order.run.limits.cpu_s, order.program.compile_limits.cpu_s, order.run.limits.memory_mb) == (30, 30, 1024)


@pytest.mark.parametrize("limit", [-1, 0, -0.5])
def test_a_memory_limit_that_is_none_leaves_the_program_the_box(limit: float) -> None:
    assert order_of(request(memory_limit_MB=limit), SETTINGS).run.limits.memory_mb == 1024


def test_its_limits_end_a_program_before_its_caller_stops_waiting() -> None:
    """The client of verl hangs up ten seconds after both time limits."""
    order = order_of(request(run_timeout=10, compile_timeout=10), SETTINGS)
    walls = order.run.limits.backstop_s + order.program.compile_limits.backstop_s
    assert walls < order.timeout_s < 30


@pytest.mark.parametrize(
    ("fields", "loc"),
    [
        ({"language": "cobol"}, ["language"]),
        ({"language": ""}, ["language"]),
        ({"files": {"a": "no base64!"}}, ["files", "a"]),
        ({"files": {"a": "", "a/b": ""}}, ["files", "a"]),
    ],
)
def test_what_cannot_be_asked_of_a_box_is_refused_with_the_field(fields: JSON, loc: list[Any]) -> None:
    with pytest.raises(Unprocessable) as caught:
        order_of(request(**fields), SETTINGS)
    assert caught.value.errors[0].loc == loc


PATHS_OUTSIDE = ["", "/etc/passwd", "..", "../a", "a/..", "a/../../b", ".", "./a", "a//b", "a/", "a\0b", "x" * 256]


@pytest.mark.parametrize("path", PATHS_OUTSIDE)
def test_paths_stay_below_the_working_directory(path: str) -> None:
    for fields in ({"files": {path: ""}}, {"fetch_files": [path]}):
        with pytest.raises(msgspec.ValidationError):
            request(**fields)


@pytest.mark.parametrize("path", ["a", "a/b.txt", "...", ".hidden", "a..b/c", "ä ö/ü", "x" * 255])
def test_other_paths_are_taken(path: str) -> None:
    order = order_of(request(files={path: ""}, fetch_files=[path]), SETTINGS)
    assert (list(order.run.files), order.run.fetch) == ([path], [path])


def test_compilers_find_the_files_beside_the_source() -> None:
    files = {"two.h": base64.b64encode(b"2").decode(), "main.cpp": "", "absent": None}
    order = order_of(request(language="cpp", files=files), SETTINGS)
    assert order.program.files == {"two.h": b"2"}
    assert order.run.files == {"two.h": b"2", "main.cpp": b""}
    assert order_of(request(files=files), SETTINGS).program.files == {}


def test_pytests_arguments_stand_behind_the_file() -> None:
    order = order_of(request(language="pytest", args=["-k", "one; two"]), SETTINGS)
    assert order.run.arguments == ["test_solution.py", "-k", "one; two"]
    assert order_of(request(args=["-k"]), SETTINGS).run.arguments == []


def test_files_are_counted() -> None:
    for fields in ({"files": {f"f{n}": "" for n in range(MAX_FILES + 1)}}, {"fetch_files": ["a"] * (MAX_FILES + 1)}):
        with pytest.raises(msgspec.ValidationError):
            request(**fields)


def test_files_of_more_than_a_box_holds_are_refused() -> None:
    small = Settings(box_disk_mb=16, box_memory_mb=1024)
    with pytest.raises(Unprocessable, match="16 MB"):
        order_of(request(files={"a": base64.b64encode(bytes(17 << 20)).decode()}), small)


def answer(exit: Exit, **fields: Any) -> RunCodeResponse:
    return answer_of(language("python"), Built(ok=True), RunResult(exit, **fields))


@pytest.mark.parametrize(
    ("exit", "fields", "status", "run_status", "return_code"),
    [
        (Exit.EXITED, {"code": 0}, "Success", "Finished", 0),
        (Exit.EXITED, {"code": 3}, "Failed", "Finished", 3),
        (Exit.SIGNALLED, {"signal": 11}, "Failed", "Finished", -11),
        (Exit.TIME_LIMIT, {}, "Failed", "TimeLimitExceeded", None),
        (Exit.MEMORY_LIMIT, {"signal": 9}, "Failed", "Error", -9),
        (Exit.OUTPUT_LIMIT, {}, "Failed", "Error", -9),
    ],
)
def test_every_end_of_a_run_has_its_form(
    exit: Exit, fields: JSON, status: str, run_status: str, return_code: int | None
) -> None:
    found = answer(exit, stdout=b"out\xff", stderr=b"err", **fields)
    assert found.status == status
    assert found.run_result is not None
    assert (found.run_result.status, found.run_result.return_code) == (run_status, return_code)
    assert (found.run_result.stdout, found.run_result.stderr) == ("out\ufffd", "err")
    assert found.compile_result is None


def test_what_does_not_compile_has_only_a_compile_result() -> None:
    rust = language("rust")
    found = answer_of(rust, Built(ok=False, message="error: expected `;`", cpu_s=0.4), None)
    assert (found.status, found.run_result) == ("Failed", None)
    assert found.compile_result is not None
    assert (found.compile_result.status, found.compile_result.return_code) == ("Finished", 1)
    assert found.compile_result.stderr == "error: expected `;`"
    late = answer_of(rust, Built(ok=False, exit=Exit.TIME_LIMIT), None)
    assert late.compile_result is not None
    assert late.compile_result.status == "TimeLimitExceeded"


def test_what_is_no_python_failed_when_it_ran() -> None:
    found = answer_of(language("python"), Built(ok=False, message="SyntaxError"), None)
    assert found.compile_result is None
    assert found.run_result is not None
    assert (found.status, found.run_result.return_code, found.run_result.stderr) == ("Failed", 1, "SyntaxError")


def test_all_names_of_the_original_are_in_an_answer() -> None:
    assert set(json.loads(msgspec.json.encode(answer(Exit.EXITED, code=0)))) == {
        "status", "message", "compile_result", "run_result", "executor_pod_name", "files",
    }  # fmt: skip


def test_what_boxes_cannot_run_is_only_compiled() -> None:
    found = answer_of(language("cuda"), Built(ok=True, cpu_s=0.4), None)
    assert (found.status, found.run_result) == ("Success", None)
    assert found.compile_result is not None
    assert (found.compile_result.status, found.compile_result.return_code) == ("Finished", 0)


ORIGINAL = [
    "python", "cpp", "nodejs", "go", "go_test", "java", "php", "csharp", "bash", "typescript", "sql", "rust", "cuda",
    "lua", "R", "perl", "D_ut", "ruby", "scala", "julia", "pytest", "junit", "kotlin_script", "jest", "verilog",
    "python_gpu", "lean", "swift", "racket",
]  # fmt: skip
"""The languages of the original, as it spells them."""


@pytest.mark.parametrize("name", ["python3", "javascript", "js", "ts", *ORIGINAL])
def test_the_names_that_clients_send_are_known(name: str) -> None:
    assert order_of(request(language=name), SETTINGS).language.name in languages.all_languages()


def test_the_page_has_all_languages_of_the_original() -> None:
    rows = ["| its name | here | Debian's packages | |", "|---|---|---|---|"]
    for name in ORIGINAL:
        known = order_of(request(language=name), SETTINGS).language
        packages = ", ".join(f"`{package}`" for package in known.packages)
        rows.append(f"| `{name}` | `{known.name}` | {packages} | {'tried' if packages else 'not tried'} |")
    assert "\n".join(rows) in (ROOT / "docs" / "boxes.md").read_text(), "\n".join(rows)


def run_code(served: Served, path: str = "/run_code", **fields: Any) -> JSON:
    body = {"code": "print(1)", "language": "python", **fields}
    reply = httpx.post(f"{served.url}{path}", json=body, timeout=PATIENCE_S)
    assert reply.status_code == 200, reply.text[:500]
    found: JSON = reply.json()
    return found


def test_a_program_runs(served: Served) -> None:
    found = run_code(served, code="print(input()[::-1])", stdin="abc\n")
    assert (found["status"], found["message"], found["compile_result"]) == ("Success", "", None)
    assert found["run_result"].pop("execution_time") >= 0
    assert found["run_result"] == {"status": "Finished", "return_code": 0, "stdout": "cba\n", "stderr": ""}


def test_both_paths_lead_there(served: Served) -> None:
    assert run_code(served, "/compat/sandboxfusion/run_code", language="Python3")["run_result"]["stdout"] == "1\n"


def test_files_go_in_and_come_back(served: Served) -> None:
    found = run_code(
        served,
        code="text = open('a/b.txt').read()\nopen('out.bin', 'wb').write(text.encode() + bytes([0, 255]))",
        files={"a/b.txt": base64.b64encode(b"hello").decode(), "none": None},
        fetch_files=["out.bin", "absent"],
    )
    back = {path: base64.b64decode(content) for path, content in found["files"].items()}
    assert back == {"out.bin": b"hello\x00\xff"}


@pytest.mark.contract(beyond=2)
@pytest.mark.parametrize(
    ("code", "run_status", "said"),
    [
        ("import sys; sys.exit(3)", "Finished", ""),
        ("raise ValueError('no')", "Finished", "ValueError: no"),
        ("def (", "Finished", "SyntaxError"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "Finished", ""),
        ("while True: pass", "TimeLimitExceeded", ""),
        ("import time; time.sleep(100)", "TimeLimitExceeded", ""),
        ("print('x' * (64 << 20))", "Error", ""),
    ],
)
def test_a_program_that_fails_is_failed(served: Served, code: str, run_status: str, said: str) -> None:
    found = run_code(served, code=code, run_timeout=1)
    assert (found["status"], found["run_result"]["status"]) == ("Failed", run_status)
    assert found["run_result"]["return_code"] != 0
    assert said in found["run_result"]["stderr"]


TESTED = """
import pytest

def double(text):
    return text * 2

@pytest.fixture
def word():
    return "ab"

@pytest.mark.parametrize("times", [1, 2])
def test_doubles(word, times, tmp_path):
    assert double(word * times) == WORD * 2 * times
"""


@pytest.mark.contract(beyond=1)
@pytest.mark.parametrize(
    ("code", "status", "return_code", "said"),
    [
        (TESTED.replace("WORD", "word"), "Success", 0, "2 passed"),
        (TESTED.replace("WORD", "'a'"), "Failed", 1, "AssertionError"),
        ("def double(text): return text", "Failed", 5, "no tests ran"),
        ("def test(: pass", "Failed", 2, "SyntaxError"),
        ("from helper import two\ndef test_helper(given): assert two == given", "Success", 0, "1 passed"),
        ("import os\nos._exit(7)", "Failed", 7, ""),
    ],
)
def test_pytest_runs_a_file_of_tests(served: Served, code: str, status: str, return_code: int, said: str) -> None:
    beside = {
        "helper.py": "two = 2",
        "conftest.py": "import pytest\n@pytest.fixture\ndef given(): return 2",
        "test_solution.py": "def test_other(): assert False",
    }
    files = {name: base64.b64encode(text.encode()).decode() for name, text in beside.items()}
    found = run_code(served, code=code, language="pytest", files=files)
    assert (found["status"], found["compile_result"]) == (status, None)
    assert (found["run_result"]["status"], found["run_result"]["return_code"]) == ("Finished", return_code)
    assert said in found["run_result"]["stdout"]
    assert "test_other" not in found["run_result"]["stdout"]


def test_pytest_takes_arguments_and_its_reports_come_back(served: Served) -> None:
    code = "def test_one(): pass\ndef test_two(): assert False"
    args = ["-k", "one", "--junitxml=with spaces.xml", "-o", "junit_suite_name=; $(touch x)"]
    found = run_code(served, code=code, language="pytest", args=args, fetch_files=["with spaces.xml", "x"])
    assert (found["status"], found["run_result"]["return_code"]) == ("Success", 0)
    assert "1 passed, 1 deselected" in found["run_result"]["stdout"]
    (report,) = found["files"].values()
    assert b'name="; $(touch x)"' in base64.b64decode(report)


def test_pytests_time_is_limited(served: Served) -> None:
    found = run_code(served, code="def test_it():\n    while True: pass", language="pytest", run_timeout=1)
    assert found["run_result"]["status"] == "TimeLimitExceeded"


@pytest.mark.contract
def test_memory_is_limited_only_when_asked(served: Served) -> None:
    code = "x = bytearray(300 << 20); print(len(x))"
    assert run_code(served, code=code, memory_limit_MB=-1)["status"] == "Success"
    assert run_code(served, code=code, memory_limit_MB=100)["status"] == "Failed"


def test_numbers_may_stand_in_quotation_marks(served: Served) -> None:
    fields = {"run_timeout": " .5 ", "compile_timeout": "3.5", "memory_limit_MB": "+256"}
    assert run_code(served, code="print(1)", **fields)["run_result"]["stdout"] == "1\n"
    assert run_code(served, code="while True: pass", **fields)["run_result"]["status"] == "TimeLimitExceeded"
    assert run_code(served, code="x = bytearray(300 << 20)", **fields)["status"] == "Failed"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"no json", 400),
        (b"[]", 422),
        (b'{"code": "1"}', 422),
        (b'{"code": 1, "language": "python"}', 422),
        (b'{"code": "1", "language": "cobol"}', 422),
        (b'{"code": "1", "language": "python", "run_timeout": 0}', 422),
        (b'{"code": "1", "language": "python", "run_timeout": "0"}', 422),
        (b'{"code": "1", "language": "python", "run_timeout": "soon"}', 422),
        (b'{"code": "1", "language": "python", "compile_timeout": "nan"}', 422),
        (b'{"code": "1", "language": "python", "compile_timeout": "0x10"}', 422),
        (b'{"code": "1", "language": "python", "memory_limit_MB": "much"}', 422),
        (b'{"code": "1", "language": "python", "files": {"../x": ""}}', 422),
        (b'{"code": "1", "language": "python", "fetch_files": ["' + b"\xc3\xa9" * 200 + b'"]}', 422),
        (b'{"code": "1", "language": "python", "files": {"' + b"a/" * 100 + b'a": ""}}', 422),
    ],
)
def test_a_body_that_is_no_request_is_refused(served: Served, body: bytes, status: int) -> None:
    reply = httpx.post(f"{served.url}/run_code", content=body, timeout=PATIENCE_S)
    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"


def test_it_takes_post(served: Served) -> None:
    assert httpx.get(f"{served.url}/run_code").status_code == 405


def test_ping_answers_as_the_original_does(served: Served) -> None:
    assert httpx.get(f"{served.url}/v1/ping").json() == "pong"


@pytest.mark.contract
def test_a_key_can_stand_in_the_url_as_these_clients_cannot_send_another(serve: Any) -> None:
    served = serve(sandbox="auto", api_keys=f"train={KEY}")
    body = {"code": "print(1)", "language": "python"}
    url = f"{served.url}/run_code"
    assert httpx.post(url, json=body).status_code == 401
    assert httpx.post(url.replace("://", f"://any:{KEY}x@"), json=body).status_code == 401
    assert httpx.post(url, json=body, headers={"Authorization": "Basic no-base64"}).status_code == 401
    assert httpx.post(url.replace("://", f"://any:{KEY}@"), json=body, timeout=PATIENCE_S).json()["status"] == "Success"
    assert httpx.post(url, json=body, headers={"Authorization": f"Bearer {KEY}"}, timeout=PATIENCE_S).status_code == 200


@pytest.fixture(scope="module")
def boxless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("boxless") / "log.jsonl", sandbox="none") as server:
        yield server


def test_without_boxes_nothing_is_said_of_the_program(boxless: Served) -> None:
    found = run_code(boxless)
    assert (found["status"], found["run_result"], found["compile_result"]) == ("SandboxError", None, None)
    assert "sandbox_unavailable" in found["message"]
    counted = httpx.get(f"{boxless.url}/metrics").text
    assert 'rewardline_run_code_total{status="SandboxError"}' in counted


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One box only."""
    with serving(tmp_path_factory.mktemp("narrow") / "log.jsonl", box_slots="1") as server:
        yield server


def is_busy(served: Served) -> bool:
    return 'rewardline_boxes{state="busy"} 1.0' in httpx.get(f"{served.url}/metrics").text


@pytest.mark.contract
def test_who_does_not_get_a_box_in_time_is_told_so_in_the_one_way_verl_retries(narrow: Served) -> None:
    """The only box is taken for longer than the second caller waits."""
    sleeper: JSON = {"code": "import time; time.sleep(13)", "run_timeout": 15}
    with ThreadPoolExecutor() as threads:
        first = threads.submit(run_code, narrow, **sleeper)
        eventually(lambda: is_busy(narrow))
        body = {"code": "print(1)", "language": "python", "run_timeout": 1, "compile_timeout": 1}
        reply = httpx.post(f"{narrow.url}/run_code", json=body, timeout=PATIENCE_S)
        assert reply.status_code == 504
        assert reply.headers["content-type"] == "application/problem+json"
        assert first.result()["status"] == "Success"


@pytest.mark.contract
def test_a_caller_who_hangs_up_gives_the_box_back(narrow: Served) -> None:
    body = {"code": "import time; time.sleep(50)", "language": "python", "run_timeout": 55}
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{narrow.url}/run_code", json=body, timeout=1)
    assert run_code(narrow, run_timeout=2)["status"] == "Success"


@pytest.mark.contract
def test_many_callers_wait_for_their_turn_instead_of_being_refused(serve: Any) -> None:
    served = serve(sandbox="auto", box_slots="1", max_items_in_flight="2", max_items_per_request="1")
    with ThreadPoolExecutor(12) as threads:
        found = list(threads.map(lambda n: run_code(served, code=f"print({n})"), range(12)))
    assert [one["run_result"]["stdout"] for one in found] == [f"{n}\n" for n in range(12)]


class Verl:
    """The client of verl's sandbox_fusion as it posts, tries again, and reads: one request for each test case."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.tries = 0

    def case(self, code: str, stdin: str | None, expected: str | None, timeout_s: int = 10) -> int | bool:
        """True or False; -1 trouble, -2 it broke, -3 its time was up, -4 it did not compile."""
        payload = json.dumps(
            {
                "compile_timeout": timeout_s,
                "run_timeout": timeout_s,
                "code": code,
                "stdin": stdin,
                "memory_limit_MB": 1024,
                "language": "python",
                "files": {},
                "fetch_files": [],
            }
        )
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        for attempt in range(3):
            self.tries += 1
            reply = httpx.post(self.url, content=payload, headers=headers, timeout=2 * timeout_s + 10)
            if reply.status_code != 504:
                break
            time.sleep(attempt + 1.0)
        return self._judged(reply.json(), expected) if reply.status_code == 200 else -1

    def _judged(self, found: JSON, expected: str | None) -> int | bool:
        compiled, run = found["compile_result"], found["run_result"]
        if found["status"] == "Failed":
            if compiled and (compiled["status"] in ("Error", "TimeLimitExceeded") or compiled["return_code"] != 0):
                return -4
            return -3 if run and run["status"] == "TimeLimitExceeded" else -2
        if found["status"] != "Success" or not run or run["status"] != "Finished":
            return -1
        return expected is None or bool(run["stdout"].rstrip("\n") == expected.rstrip("\n"))


def test_verls_client_sees_what_it_shall(served: Served) -> None:
    verl = Verl(f"{served.url}/run_code")
    assert verl.case("print(int(input()) + 1)", "1\n", "2") is True
    assert verl.case("print(int(input()) + 1)", "1\n", "3") is False
    assert verl.case("def add(a, b):\n    return a + b\n\nassert add(1, 2) == 3", None, None) is True
    assert verl.case("def add(a, b):\n    return a - b\n\nassert add(1, 2) == 3", None, None) == -2
    assert verl.case("while True: pass", None, "1", timeout_s=1) == -3
    assert verl.tries == 5


def test_to_verls_client_missing_boxes_are_trouble_and_no_wrong_answer(boxless: Served) -> None:
    verl = Verl(f"{boxless.url}/run_code")
    assert verl.case("print(1)", None, "1") == -1


async def roll_runs(url: str, code: str, language: str, stdin: str, expected: str) -> tuple[bool, int]:
    """ROLL's worker posts every test twice, each up to three times; either's pass counts. And how often it asked."""
    asked = 0
    passed = False
    body: JSON = {"compile_timeout": 30, "run_timeout": 30, "code": code, "language": language}
    body |= {"stdin": stdin, "expected_stdout": expected}
    timeout = aiohttp.ClientTimeout(total=90, connect=20, sock_read=30)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        for _ in range(2):
            for _ in range(3):
                asked += 1
                async with session.post(url, json=body, headers={"eagleeye-traceid": "t"}) as reply:
                    found: JSON = await reply.json() if reply.status == 200 else {"status": "SandboxError"}
                if found["status"] != "SandboxError":
                    break
            run = found.get("run_result") or {}
            passed |= found["status"] == "Success" and run["stdout"].split() == expected.split()
    return passed, asked


async def test_rolls_client_sees_what_it_shall(served: Served) -> None:
    url = f"{served.url}/run_code"
    assert await roll_runs(url, "print(input() * 2)", "python3", "ab\n", "abab") == (True, 2)
    assert await roll_runs(url, "print(input() * 2)", "python3", "ab\n", "ab") == (False, 2)


async def test_rolls_client_tries_again_when_there_are_no_boxes(boxless: Served) -> None:
    assert await roll_runs(f"{boxless.url}/run_code", "print(1)", "python", "", "1") == (False, 6)
