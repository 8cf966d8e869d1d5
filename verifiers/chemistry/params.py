"""The parameters of `chemistry`, and how it finds an answer in a response."""

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, Literal

import msgspec
from pydantic import BaseModel, ConfigDict, Field, model_validator

from verifiers import commitment
from verifiers.base import Verdict
from verifiers.chemistry.answers import difference, read_reference
from verifiers.chemistry.formulas import States
from verifiers.chemistry.notation import TooComplex, Unreadable
from verifiers.commitment import Channel, ExtractionParams, is_clause, stated_at_end

MAX_MOLECULE_CHARS: Final = 4_000
"""Longer texts are not read as molecules."""

_Text = Annotated[str, Field(min_length=1, max_length=MAX_MOLECULE_CHARS)]
_Some = Annotated[list[_Text], Field(max_length=32)]
_Range = tuple[float | None, float | None]


class Constraints(BaseModel):
    """What a molecule must be like; `{}` is met by any molecule."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)

    formula: _Text | None = None
    """Its formula, with its charge: `C6H12O`."""
    isomer_of: _Text | None = None
    """A molecule with the same formula."""
    contains: _Some = []
    """SMARTS patterns that it must contain, such as functional groups."""
    lacks: _Some = []
    """SMARTS patterns that it must not contain."""
    properties: Annotated[dict[str, _Range], Field(max_length=32)] = {}
    """The least and the largest value of descriptors, by RDKit's names: `{"MolWt": [100, 300], "fr_ketone": [1, null]}`."""
    similar_to: _Text | None = None
    """A molecule to which its similarity (Tanimoto, Morgan fingerprints of radius 2) is at least `min_similarity`."""
    min_similarity: float = Field(default=0.7, ge=0, le=1)
    """The least similarity to `similar_to`, from 0 to 1."""
    starts_with: _Text | None = None
    """The beginning of its SMILES; the answer is all of it, or the rest."""


class ChemistryParams(ExtractionParams):
    """What the answer must be."""

    reference: _Text | Annotated[list[_Text], Field(min_length=1, max_length=64)] | Constraints
    """The right answer, or several of which each is right; or an object of constraints that a molecule must meet. Rows of
    ether0 work as they are: `product_eval!:!CCO!:!…`."""
    kind: Literal["formula", "molecule", "name"] = "formula"
    """How the answer is read. formula: formulas, equations and electron configurations; molecule: SMILES, InChI, reactions
    in SMILES, and constraints (it needs the extra `rewardline-server[chemistry]`); name: names, compared as text without case and fonts."""
    states: States = "agree"
    """The marks (s), (l), (g), (aq). agree: they may be left out, but must not differ; ignore: they do not count;
    require: both sides must have the same."""
    structure: Literal["written", "ignore"] = "written"
    """Formulas such as CH3CH2OH. written: if the reference shows which atoms are neighbours, the answer must show the
    same; ignore: only atoms and charge count. In equations they alone count."""
    balanced: bool = True
    """Whether a reference that is an equation must be balanced; if it is not, the item is invalid."""
    notation: Literal["smiles", "selfies"] = "smiles"
    """The notation of molecules on both sides. What begins with `InChI=` is read as InChI."""
    stereo: bool = True
    """Whether stereo isomers are different molecules."""
    largest_fragment: bool = False
    """Whether only the largest fragment of each molecule counts, without ions and solvents beside it."""
    partial_credit: float = Field(default=0.0, ge=0, lt=1)
    """A wrong molecule scores this share of its similarity to the reference (Tanimoto, Morgan fingerprints of radius 2)."""

    @model_validator(mode="before")
    @classmethod
    def _of_ether0(cls, fields: Any) -> Any:
        if isinstance(fields, dict) and isinstance(row := fields.get("reference"), str) and "!:!" in row:
            return {**fields, **_ether0(row)}
        return fields

    @property
    def texts(self) -> list[str]:
        reference = self.reference
        if isinstance(reference, Constraints):
            return []
        return [text.strip() for text in ([reference] if isinstance(reference, str) else reference)]

    @property
    def needs_rdkit(self) -> bool:
        return self.kind == "molecule" or isinstance(self.reference, Constraints)


_NAMELIKE = re.compile(r"[aeiuy][a-z]|[a-z][aeiuy]")
"""Names have vowels beside small letters; SMILES has `Si` and `Na`, and only o among small vowels."""


def _ether0(row: str) -> dict[str, Any]:
    """The parameters of a row of ether0: `evaluation!:!answer!:!problem type`."""
    evaluation, _, tail = row.partition("!:!")
    answer = tail.partition("!:!")[0]
    match evaluation:
        case "str_eval" | "rxn_eval" | "should_not_answer_eval":
            return {"kind": "name" if _NAMELIKE.search(answer) else "molecule", "reference": answer.strip()}
        case "product_eval" | "caption_eval":
            return {"kind": "molecule", "reference": answer, "largest_fragment": True}
        case "formula_eval":
            return {"kind": "molecule", "reference": {"isomer_of": answer, "similar_to": answer}}
        case "valid_mol_eval":
            return {"kind": "molecule", "reference": {"starts_with": answer}}
        case "should_answer_eval":
            return {"kind": "molecule", "reference": {}}
    raise ValueError(f"rows of ether0 for {evaluation[:40]!r} are not judged here")


_CHANNELS: Final = (Channel.ANSWER_TAG, Channel.BOXED, Channel.HASH4, Channel.ANSWER_LINE)
_FORMULA_CHANNELS: Final = (*_CHANNELS, Channel.BARE, Channel.FINAL_STATEMENT)
_MOLECULE_CHANNELS: Final = (*_CHANNELS, Channel.WHOLE)
_ETHER0_MARK = re.compile(r"<\|(think|answer)_(start|end)\|>")
_HYDRATE = re.compile(r"(?<=[A-Za-z\d)₀-₉])[·•∙⋅](?=\d{0,2}H)")
"""The dot of a hydrate, in a text where other dots divide answers."""
_WRAPPED = re.compile(
    r"\A\s{0,8}(?:\\(?:text|texttt|mathtt|mathrm|textrm|ce|verb)\{(.*)\}|```\w{0,12}\s(.*)```|[`'\"$](.*)[`'\"$])\s{0,8}\Z",
    re.DOTALL,
)
_LABEL = re.compile(
    r"\A(?:(?:canonical|isomeric) )?(?:smiles|inchi|selfies)(?: string)?(?: is|:|=(?!1))\s{0,4}", re.IGNORECASE
)


def _reads_as_formula(text: str) -> bool:
    try:
        read_reference(text)
    except (Unreadable, TooComplex):
        return False
    return True


def _is_another(answer: str, other: str) -> bool:
    """Whether two texts are formulas of different substances."""
    try:
        return difference(read_reference(answer), other) is not None
    except (Unreadable, TooComplex):
        return False


_READS: Final[Mapping[str, Callable[[str], bool]]] = {
    "formula": _reads_as_formula,
    "molecule": lambda text: text != "" and not any(map(str.isspace, text)),
    "name": lambda text: text != "" and not is_clause(text),
}
"""Whether a text at the end of a response may be an answer of a kind. Only RDKit knows what is a SMILES."""


def answer_of(response: str, params: ChemistryParams, explain: bool) -> tuple[str, dict[str, Any]] | Verdict:
    """The answer of a response with its place, or the verdict if there is none."""
    response = _ETHER0_MARK.sub(lambda mark: f"<{'/' if mark[2] == 'end' else ''}{mark[1]}>", response)
    response = _HYDRATE.sub(".", commitment.without_html(commitment.without_struck(response)))
    channels = _MOLECULE_CHANNELS if params.needs_rdkit or params.kind == "name" else _FORMULA_CHANNELS
    extraction = commitment.extract(response, params, channels)
    extraction = commitment.corrected(response, extraction, params.on_conflict)
    if extraction.channel not in _CHANNELS and extraction.reason in ("found", "no_answer") and params.extract == "auto":
        span = stated_at_end(response, params, _READS[params.kind])
        if span is not None:
            located = msgspec.structs.replace(extraction, answer=response[slice(*span)], span=span, reason="found")
            extraction = commitment.judged_at(located, span)
    detail = extraction.detail(explain)
    if extraction.answer is None:
        return Verdict.wrong(extraction.reason, **detail)
    answer = extraction.answer
    other = commitment.alternative_to(response, extraction) if params.kind == "formula" else None
    if other is not None and _is_another(answer, other):
        return Verdict.wrong("conflicting_answers", **detail)
    if params.needs_rdkit:
        for _ in range(3):
            if (match := _WRAPPED.match(answer)) is None:
                break
            answer = next(part for part in match.groups() if part is not None)
        answer = _LABEL.sub("", answer.strip()).removesuffix(".").replace("\\#", "#")
    return answer, detail
