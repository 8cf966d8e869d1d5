"""The recipes of CONTRIBUTING.md, each carried out in a copy of the project: its files are enough, and its tests pass."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT

RECIPES = ROOT / "CONTRIBUTING.md"


@dataclass(frozen=True)
class Change:
    """What a recipe is tried with."""

    title: str
    """How the recipe begins."""
    name: str
    """What stands for NAME in its command."""
    files: Mapping[str, str]
    """New files, and texts that go to the end of existing ones."""
    edits: Mapping[str, Sequence[tuple[str, str]]]
    """In existing files, texts and their replacements."""
    proof: str
    """Python that fails without the change."""


VERIFIER = '''"""The text has the letters of the reference in another order."""

from collections.abc import Sequence

from verifiers.base import Example, Item, Params, Resources, Verdict, Verifier


class AnagramParams(Params):
    """The letters."""

    reference: str
    """A word."""


class Anagram(Verifier[AnagramParams]):
    name = "anagram"
    version = "1"
    params = AnagramParams
    summary = "The text has the letters of the reference in another order"

    async def score(self, items: Sequence[Item[AnagramParams]]) -> Sequence[Verdict]:
        return [judge(item.response, item.params) for item in items]


def create(resources: Resources) -> Anagram:
    return Anagram()


def judge(response: str, params: AnagramParams) -> Verdict:
    text = response.strip()
    is_right = text != params.reference and sorted(text) == sorted(params.reference)
    return Verdict.correct(text) if is_right else Verdict.wrong(extracted=text)


EXAMPLES = (
    Example("silent", {"reference": "listen"}, 1.0, "correct", "an anagram"),
    Example("tinsels", {"reference": "listen"}, 0.0, "wrong_answer", "one letter too many"),
    Example("listen", {"reference": "listen"}, 0.0, "wrong_answer", "looks right, but the order is the same"),
)
'''
ROWS = """

def anagram(draw: Draw) -> Posted:
    word = draw.phrase(5)
    return Posted(word[::-1] if draw.is_right else word[::-1] + "x", float(draw.is_right), word)
"""
HACKED = 'Sample("anagram", "silent", ("silence", "listens", "listen"), {"reference": "listen"})'
LANGUAGE = """\"\"\"Dash: Debian's shell of POSIX.\"\"\"

from sandbox.languages import Language

LANGUAGE = Language(
    name="dash", source_file="main.sh", run=("dash", "{program}/main.sh"), needs=("dash",), packages=("dash",)
)
"""
SAMPLE = """sum = "read a b; echo $((a + b))"
crash = "exit 3"
broken = "if"
broken_says = "unexpected"
forever = "while :; do :; done"
hungry = 'a=x; while :; do a=$a$a; done'

[[tasks]]
tests = '''
@SOLUTION@
[ "$(twice 4)" = 8 ] || exit 1
'''
right = 'twice() { echo $(($1 * 2)); }'
wrong = 'twice() { echo $1; }'
"""
HOOK = '''"""Rewards for a trainer that calls one function with texts: `reward_fn=rewardline.newcomer.reward("math")`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rewardline.always_reward import never_none, waiting_hook


def reward(verifier: str, url: str | None = None) -> Callable[[Sequence[str], Sequence[str]], list[float]]:
    hook = waiting_hook("newcomer", verifier=verifier, **({"url": url} if url else {}))

    def judged(responses: Sequence[str], references: Sequence[str]) -> list[float]:
        items = [hook.item(text, reference=reference) for text, reference in zip(responses, references, strict=True)]
        return [never_none(score) for score in hook.rewards(hook.score_blocking(items))]

    return judged
'''
HOOK_TEST = """

def test_newcomer_gets_a_number_for_each_response(served: Any) -> None:
    from rewardline import newcomer

    assert newcomer.reward("math", url=served.url)(["\\\\boxed{4}", "5"], ["4", "4"]) == [1.0, 0.0]
"""
READER = '''

def tally(log: bytes) -> Iterator[tuple[str, State]]:
    """Lines such as `+ name` and `- name`."""
    for line in lines(log):
        if line[:2] in ("+ ", "- "):
            yield line[2:], State.PASSED if line[0] == "+" else State.FAILED
'''
READER_TEST = """

def test_a_tally_is_read() -> None:
    assert states("tally", {}, b"+ a\\n- b\\n", None) == {"a": "passed", "b": "failed"}
"""
KEYS = """import os
from service.scoring.prepared_item import configure
from verifiers.registry import Entry
from verifiers.rules.exact_match import EXAMPLES, ExactMatch

entry, keys = Entry(ExactMatch(None), EXAMPLES, ""), set()
for edition in "ab":
    os.environ["EDITION"] = edition
    keys.add(configure(entry, {"reference": "1"}).prefix)
assert len(keys) == 2
"""
CHANGES = [
    Change(
        "The cache key",
        "preparation",
        {},
        {
            "service/scoring/prepared_item.py": [
                ("from blake3", "import os\n\nfrom blake3"),
                ('head = f"judge{', "head = f\"{os.environ.get('EDITION', '')}judge{"),
            ]
        },
        KEYS,
    ),
    Change(
        "A word in a language",
        "Hungarian",
        {},
        {"verifiers/commitment/lexicon/hu.yaml": [("maybe: [talán]", "maybe: [talán, esetleg]")]},
        "from verifiers.rules.numeric import NumericParams, judge\n"
        "assert judge('A válasz esetleg 42.', NumericParams(reference=42)).score == 0",
    ),
    Change(
        "A verifier",
        "anagram",
        {"verifiers/rules/anagram.py": VERIFIER, "tests/siege/fresh/forms.py": ROWS},
        {
            "tests/verifiers/test_hack_cells.py": [
                ("ANSWERS = (\n", f"ANSWERS = (\n    {HACKED},\n"),
            ]
        },
        "from verifiers.rules.anagram import Anagram",
    ),
    Change(
        "A language of programs",
        "dash",
        {"sandbox/languages/dash.py": LANGUAGE, "tests/sandbox/polyglot/dash.toml": SAMPLE},
        {},
        "from sandbox.languages import find\nassert find('dash').run[0] == 'dash'",
    ),
    Change(
        "A trainer's hook",
        "newcomer",
        {"client/rewardline/newcomer.py": HOOK, "tests/client/test_function_hooks.py": HOOK_TEST},
        {},
        "import rewardline.newcomer",
    ),
    Change(
        "An endpoint type",
        "new_server",
        {},
        {
            "verifiers/judge/endpoints/reward_servers.py": [
                ('    "vllm_classify",\n', '    "vllm_classify",\n    "new_server",\n'),
                (
                    '    "vllm_classify": Server(',
                    '    "new_server": Server("/new", "data[i].reward", _TEXT, _vllm, _data, lambda row: _scalar(row["reward"])),\n'
                    '    "vllm_classify": Server(',
                ),
            ],
            "tests/judge_upstream/reward_servers.py": [
                (
                    '        case "vllm_score":',
                    '        case "new_server":\n            return _data("reward", found)\n        case "vllm_score":',
                )
            ],
        },
        "from verifiers.judge.endpoints.reward_servers import SERVERS\nassert SERVERS['new_server'].path == '/new'",
    ),
    Change(
        "A log parser",
        "tally",
        {"verifiers/repository/reports/outputs.py": READER, "tests/verifiers/repository/test_reports.py": READER_TEST},
        {
            "verifiers/repository/reports/formats.py": [
                ('    "tap": _in', '    "tally": _in_output(outputs.tally),\n    "tap": _in'),
            ]
        },
        "from verifiers.repository.reports import report_of\n"
        "assert report_of('tally', {}, b'+ a\\n- b', None).states == {'a': 'passed', 'b': 'failed'}",
    ),
]


@pytest.mark.contract
@pytest.mark.parametrize("change", CHANGES, ids=[change.name for change in CHANGES])
def test_a_recipe_is_enough_for_its_change(change: Change, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    _copy(copy)
    for name, text in change.files.items():
        path = copy / name
        path.write_text((path.read_text("utf-8") if path.exists() else "") + text, "utf-8")
    for name, replacements in change.edits.items():
        text = (copy / name).read_text("utf-8")
        for old, new in replacements:
            assert text.count(old) == 1, (name, old)
            text = text.replace(old, new)
        (copy / name).write_text(text, "utf-8")
    recipe = _recipe(change.title)
    for name in (*change.files, *change.edits):
        assert name in recipe or str(Path(name).parent) in recipe, f"the recipe does not name {name}"
    command = re.search(r"`pytest ([^`]+)`", recipe)
    assert command is not None, f"the recipe {change.title!r} has no command"
    _run(copy, "-c", change.proof)
    _run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", *shlex.split(command[1].replace("NAME", change.name)))


def test_every_recipe_is_tried() -> None:
    titles = re.findall(r"^\*\*([^*]+)\.\*\*", _section(), re.MULTILINE)
    assert titles == [change.title for change in CHANGES]


def _section() -> str:
    return RECIPES.read_text("utf-8").split("## Recipes\n")[1].split("\n## ")[0]


def _recipe(title: str) -> str:
    return _section().split(f"**{title}.**")[1].split("\n\n")[0]


def _copy(copy: Path) -> None:
    """The files of the project, without its history. Data of tests is read where it is."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if not name.startswith("tests/data/") and (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, copy / name)
    (copy / "tests" / "data").symlink_to(ROOT / "tests" / "data")


def _run(copy: Path, *arguments: str) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{copy}:{copy / 'client'}"}
    ended = subprocess.run(
        [sys.executable, *arguments], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
