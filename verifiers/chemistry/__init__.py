r"""Decides whether the answer is the reference in chemistry: a formula, an equation, a molecule, a name.

    kind formula, name    answers.py, formulas.py    `\ce{SO4^{2-}}`, `2H2 + O2 -> 2H2O`, `[Ar] 3d^5 4s^1`
    kind molecule         molecules.py, by RDKit     `CC(=O)O`, `InChI=1S/…`, constraints such as a formula and groups

Formulas are compared by composition and charge, isotopes, and the structure that is written; equations term by term, up
to a common factor. Molecules are compared by canonical SMILES. RDKit is an extra of the server: without it items that
need it are `failed`, never wrong. It runs in a worker that can be killed: what crashes it or takes too long is wrong
(`too_complex`) in a response, and `invalid` in a reference.
"""

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from sandbox.workers import Exit, Outcome, Task, Workers
from verifiers import long_texts
from verifiers.base import Example, Item, Resources, Status, Verdict, Verifier
from verifiers.chemistry import answers
from verifiers.chemistry.notation import TooComplex, Unreadable
from verifiers.chemistry.params import ChemistryParams, Constraints, answer_of
from verifiers.long_texts import BROKEN_LIMITS, ask_workers, blamed, judge_all, sendable, trouble, verdict_of
from verifiers.own_answers import written

__all__ = ["EXAMPLES", "Chemistry", "ChemistryParams", "create"]

_GRADE = Task("verifiers.chemistry.molecules", "grade", time_limit_s=2.0)
_REFERENCE_ALONE = replace(_GRADE, time_limit_s=1.0)
"""A reference that alone takes longer than this is at fault for a broken limit, whatever the answer took."""


class Chemistry(Verifier[ChemistryParams]):
    name = "chemistry"
    version = "14"
    params = ChemistryParams
    summary = "The chemical formula, equation, molecule (SMILES, by RDKit) or name is the reference"
    concurrency = None
    chunk_items: ClassVar[int] = 128

    def __init__(self, workers: Workers, has_rdkit: bool) -> None:
        self._workers = workers
        self._has_rdkit = has_rdkit

    async def score(self, items: Sequence[Item[ChemistryParams]]) -> Sequence[Verdict]:
        verdicts: dict[int, Verdict] = {}
        await self.score_each(items, verdicts.__setitem__)
        return [verdicts[index] for index in range(len(items))]

    async def score_each(self, items: Sequence[Item[ChemistryParams]], deliver: Callable[[int, Verdict], None]) -> None:
        molecules = [index for index, item in enumerate(items) if item.params.needs_rdkit]
        inline = [index for index, item in enumerate(items) if not item.params.needs_rdkit]
        for index, verdict in zip(
            inline, await judge_all(self._workers, judge, [items[index] for index in inline]), strict=True
        ):
            deliver(index, verdict)
        if self._has_rdkit:
            await self._grade([(index, items[index]) for index in molecules], deliver)
            return
        for index in molecules:
            deliver(index, Verdict.failed("no_rdkit", "molecules need RDKit: install rewardline-server[chemistry]"))

    async def _grade(
        self, items: Sequence[tuple[int, Item[ChemistryParams]]], deliver: Callable[[int, Verdict], None]
    ) -> None:
        broken: dict[int, Outcome] = {}

        def take(position: int, outcome: Outcome) -> None:
            index = items[position][0]
            if outcome.exit is Exit.OK:
                deliver(index, verdict_of(outcome.value))
            elif outcome.exit in BROKEN_LIMITS:
                broken[position] = outcome
            else:
                deliver(index, trouble(outcome))

        await ask_workers(self._workers, _GRADE, [_payload(item, item.response) for _, item in items], take)
        probes = {position: [_payload(items[position][1], None)] for position in broken}
        for position, verdict in (await blamed(self._workers, _REFERENCE_ALONE, broken, probes)).items():
            deliver(items[position][0], verdict)

    def own_answer(self, params: ChemistryParams) -> str | None:
        return None if isinstance(params.reference, Constraints) else written(params.texts[0], params)


def _payload(item: Item[ChemistryParams], response: str | None) -> list[Any]:
    return [item.params.model_dump_json(), None if response is None else sendable(response), item.explain]


def create(resources: Resources) -> Chemistry:
    long_texts.register(resources.workers, judge, ChemistryParams, EXAMPLES[0])
    has_rdkit = all(importlib.util.find_spec(name) is not None for name in ("rdkit", "selfies"))
    if has_rdkit:
        warm = [
            _payload(Item(example.response, ChemistryParams.model_validate(example.params)), example.response)
            for example in EXAMPLES
            if ChemistryParams.model_validate(example.params).needs_rdkit
        ]
        resources.workers.register(replace(_GRADE, warm=tuple(warm)))
    return Chemistry(resources.workers, has_rdkit)


def judge(response: str, params: ChemistryParams, explain: bool = False) -> Verdict:
    """Judge an answer that needs no RDKit."""
    read: Callable[[str], answers.Chemical] = answers.read_name if params.kind == "name" else answers.read_reference
    references = []
    for text in params.texts:
        try:
            references.append(read(text))
        except Unreadable as error:
            return Verdict.invalid("unparseable_reference", f"reference {text[:100]!r}: {error}")
        except TooComplex as error:
            return Verdict.invalid("reference_too_complex", f"reference {text[:100]!r}: {error}")
        formula = references[-1].formula
        if params.balanced and formula is not None and formula.is_equation and not formula.is_balanced:
            return Verdict.invalid(
                "unbalanced_reference", f"reference {text[:100]!r}: balance it, or set `balanced` to false"
            )
    extracted = answer_of(response, params, explain)
    if isinstance(extracted, Verdict):
        return extracted
    answer, detail = extracted
    compare = partial(answers.difference, states=params.states, by_composition=params.structure == "ignore")
    try:
        reasons = [compare(reference, answer) for reference in references]
    except Unreadable:
        return Verdict.wrong("unparseable", answer, **detail)
    except TooComplex:
        return Verdict.wrong("too_complex", answer, **detail)
    if None in reasons:
        return Verdict.correct(answer, **detail)
    return Verdict.wrong(reasons[0] or "wrong_answer", answer, **detail)


_ACID = "CC(=O)O"
EXAMPLES = (
    Example(r"It is \boxed{\ce{SO4^{2-}}}.", {"reference": r"\mathrm{SO_4^{2-}}"}, 1.0, "correct", "any notation"),
    Example("O2 + 2H2 → 2H2O", {"reference": "2H2 + O2 -> 2H2O"}, 1.0, "correct", "terms in any order"),
    Example(r"\boxed{H2 + \frac12 O2 = H2O}", {"reference": "2H2 + O2 -> 2H2O"}, 1.0, "correct", "up to a factor"),
    Example("H2 + O2 → H2O", {"reference": "2H2 + O2 -> 2H2O"}, 0.0, "unbalanced", "atoms are lost"),
    Example(r"\boxed{Fe^{2+}}", {"reference": "Fe3+"}, 0.0, "wrong_charge", "another ion"),
    Example(r"\boxed{CH3OCH3}", {"reference": "CH3CH2OH"}, 0.0, "wrong_structure", "the same atoms, another substance"),
    Example(r"\boxed{CO}", {"reference": "Co"}, 0.0, "wrong_answer", "carbon monoxide is not cobalt"),
    Example(r"\boxed{4s^1 3d^5 [Ar]}", {"reference": "[Ar] 3d^5 4s^1"}, 0.0, "wrong_answer", "the core comes first"),
    Example("H2 -> H2O", {"reference": "H2 -> H2O"}, None, "unbalanced_reference", "mend the data", Status.INVALID),
    Example("<answer>OC(C)=O</answer>", {"reference": _ACID, "kind": "molecule"}, 1.0, "correct", "one molecule"),
    Example(
        "<answer>C[C@H](N)C(=O)O</answer>",
        {"reference": "C[C@@H](N)C(=O)O", "kind": "molecule"},
        0.0,
        "wrong_stereo",
        "the mirror image",
    ),
    Example(
        "<answer>CC(C)=O</answer>",
        {"reference": {"formula": "C3H6O", "contains": ["[CX3](=O)[#6]"], "properties": {"RingCount": [0, 0]}}},
        1.0,
        "correct",
        "a molecule that meets constraints",
    ),
    Example("<answer>CC(C</answer>", {"reference": {}}, 0.0, "invalid_molecule", "not a molecule"),
)
