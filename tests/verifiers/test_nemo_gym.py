"""Measures of the verifier `nemo_gym`."""

import json
from difflib import SequenceMatcher
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer

from tests.conftest import ROOT
from tests.verifiers.found import Found
from verifiers.base import Item, Status
from verifiers.nemo_gym import MODULES, records
from verifiers.nemo_gym.measures import _longest_copy
from verifiers.nemo_gym.stems import stem

SHORT = st.text("ab ", max_size=60)


@given(SHORT, SHORT, SHORT)
def test_the_longest_copy_is_that_of_difflib(before: str, copied: str, source: str) -> None:
    text, source = f"{before}{copied[1:]}{before}", f"{source}{copied}"
    wanted = SequenceMatcher(None, text, source, autojunk=False).find_longest_match().size
    assert _longest_copy(text, source) == wanted


def test_thoughts_and_prompts_of_real_lengths_are_compared(found: Found) -> None:
    draws = Random(7)
    prompt, thoughts = (" ".join(f"node {draws.getrandbits(40):x}" for _ in range(count)) for count in (6_000, 3_000))
    entry = found.registry["nemo_gym"]
    row = {"server": "lc_niah", "reference": {"expected_answer": '["a"]'}}
    params = entry.verifier.params.model_validate_json(json.dumps(row))
    (verdict,) = found.score(entry, [Item(f"<think>{thoughts}</think>Final Answer: [a]", params, prompt)])
    assert verdict.status is Status.OK
    assert verdict.score is not None
    assert 0.99 < verdict.score < 1.0


def test_stems_are_those_of_nltk() -> None:
    draws, stemmer = Random(3), PorterStemmer()
    ends = "s ies ied eed ing ational enci izer bli alli logi fulli iviti icate alize ful ance ement sion ion ate ll e y sky"
    for _ in range(5_000):
        word = "".join(draws.choices("abcdeilmnoprstuyz", k=draws.randrange(5))) + "".join(
            draws.choices(ends.split(), k=2)
        )
        assert stem(word) == stemmer.stem(word), word


def test_no_server_takes_more_than_150_lines_and_all_take_3500() -> None:
    """A module with several servers may take 150 lines for each."""
    package = ROOT / "verifiers/nemo_gym"
    lines = {path.stem: len(path.read_text(encoding="utf-8").splitlines()) for path in package.glob("*.py")}
    servers = {module.__name__.rpartition(".")[2]: len(module.SERVERS) for module in (*MODULES, records)}
    assert not {name: lines[name] for name, count in servers.items() if lines[name] > 150 * count}
    table = (ROOT / "service/doors/compat/nemo_gym_servers.py").read_text(encoding="utf-8")
    assert sum(lines.values()) + len(table.splitlines()) <= 3_500
