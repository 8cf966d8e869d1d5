"""Reads molecules by RDKit, and tells whether one is another or meets constraints. Runs in worker processes only.

    SMILES, InChI, SELFIES ──RDKit──► molecule ─┬─ canonical SMILES, with stereo and isotopes: the same molecule
                                                └─ formula, SMARTS patterns, descriptors, similarity: constraints

RDKit's parsers are C++ on text of others: a text may crash them or take long, so a worker's limits hold.
"""

from typing import Any, Final

from rdkit import Chem, rdBase
from rdkit.Chem import Descriptors, rdFingerprintGenerator, rdMolDescriptors
from rdkit.DataStructs import TanimotoSimilarity
from selfies import decoder as selfies_decoder

from memory import remember
from sandbox.workers import worker_function
from verifiers.base import Status, Verdict
from verifiers.chemistry import formulas, notation
from verifiers.chemistry.params import MAX_MOLECULE_CHARS, ChemistryParams, Constraints, answer_of
from verifiers.long_texts import fields_of

rdBase.DisableLog("rdApp.*")
_MORGAN: Final = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
_DESCRIPTORS: Final = dict(Descriptors.descList)


class Unreadable(ValueError):
    """The text is not a molecule."""


@worker_function
def grade(payload: list[Any]) -> list[Any]:
    """Judge one response, by the parameters' JSON; if the response is None, only the reference is read."""
    params, response = _params(payload[0]), payload[1]
    try:
        constraints = params.reference if isinstance(params.reference, Constraints) else None
        check = _Constrained(constraints) if constraints else _Same(params)
    except Unreadable as error:
        return fields_of(Verdict.invalid("unparseable_reference", str(error)))
    if response is None:
        return fields_of(Verdict.wrong())
    extracted = answer_of(response, params, explain=bool(payload[2]))
    if isinstance(extracted, Verdict):
        return fields_of(extracted)
    answer, detail = extracted
    try:
        verdict = check.judge(answer, params)
    except Unreadable:
        verdict = Verdict.wrong("invalid_molecule", answer)
    return fields_of(
        Verdict(verdict.status, verdict.score, verdict.reason, verdict.extracted, {**detail, **verdict.detail})
    )


@remember(256)
def _params(packed: str) -> ChemistryParams:
    return ChemistryParams.model_validate_json(packed)


class _Same:
    """The answer must be one of the references."""

    def __init__(self, params: ChemistryParams) -> None:
        self._wanted = [_side_by_side(text, params) for text in params.texts]
        self._keys = [_key(molecules, params.stereo) for molecules in self._wanted]
        self._flat = [_key(molecules, False) for molecules in self._wanted] if params.stereo else []

    def judge(self, answer: str, params: ChemistryParams) -> Verdict:
        answer_molecules = _side_by_side(answer, params)
        if _key(answer_molecules, params.stereo) in self._keys:
            return Verdict.correct(answer)
        reason = "wrong_stereo" if _key(answer_molecules, False) in self._flat else "wrong_answer"
        if not params.partial_credit or len(answer_molecules) > 1:
            return Verdict.wrong(reason, answer)
        near = max(_similarity(answer_molecules[0], molecules[0]) for molecules in self._wanted if len(molecules) == 1)
        score = params.partial_credit * near
        if not score:
            return Verdict.wrong(reason, answer)
        return Verdict(Status.OK, score, "partial", answer, {"similarity": round(near, 4)})


def _side_by_side(text: str, params: ChemistryParams) -> list[Chem.Mol]:
    """A molecule, or the three parts of a reaction `reactants>agents>products`, of which some may be empty."""
    texts = text.split(">") if text.count(">") == 2 and "->" not in text else [text]
    if len(texts) == 3 and (not any(texts) or params.notation != "smiles"):
        raise Unreadable(f"{text[:100]!r} is not a reaction")
    molecules = [molecule(piece, params.notation) if piece or len(texts) == 1 else Chem.Mol() for piece in texts]
    return [_largest(m) for m in molecules] if params.largest_fragment else molecules


def _key(molecules: list[Chem.Mol], stereo: bool) -> tuple[str, ...]:
    """The canonical SMILES of each part; isotopes count always."""
    keys = []
    for mol in molecules:
        if not stereo:
            mol = Chem.Mol(mol)
            Chem.RemoveStereochemistry(mol)
        keys.append(Chem.MolToSmiles(mol))
    return tuple(keys)


def molecule(text: str, notation: str = "smiles") -> Any:
    """Read a molecule; the numbers of atoms in mapped reactions are dropped.

    Raises:
        Unreadable
    """
    if len(text) > MAX_MOLECULE_CHARS or not text or any(character.isspace() for character in text):
        raise Unreadable(f"{text[:100]!r} is not one molecule")
    try:
        if text.startswith("InChI="):
            read = Chem.MolFromInchi(text)  # type: ignore[no-untyped-call]
        else:
            read = Chem.MolFromSmiles(selfies_decoder(text) if notation == "selfies" else text)
    except Exception as error:  # selfies and RDKit raise many kinds; all say that it cannot be read
        raise Unreadable(f"{text[:100]!r} is not read: {type(error).__name__}") from error
    if read is None or not read.GetNumAtoms():
        raise Unreadable(f"{text[:100]!r} is not a molecule in {notation}")
    if any(atom.GetAtomMapNum() for atom in read.GetAtoms()):
        for atom in read.GetAtoms():
            atom.SetAtomMapNum(0)
        read = Chem.MolFromSmiles(Chem.MolToSmiles(read))  # drops hydrogen that only the number had kept
        if read is None:
            raise Unreadable(f"{text[:100]!r} is not a molecule without its map")
    return read


def _largest(mol: Chem.Mol) -> Any:
    if not mol.GetNumAtoms():
        return mol
    fragments = Chem.GetMolFrags(mol, asMols=True)
    return max(fragments, key=lambda part: (part.GetNumHeavyAtoms(), Chem.MolToSmiles(part)))


def _similarity(first: Chem.Mol, second: Chem.Mol) -> float:
    similarity: float = TanimotoSimilarity(_MORGAN.GetFingerprint(first), _MORGAN.GetFingerprint(second))
    return similarity


class _Constrained:
    """The answer must be a molecule that meets all constraints."""

    def __init__(self, constraints: Constraints) -> None:
        self._wanted = constraints
        self._has = [_pattern(text) for text in constraints.contains]
        self._lacks = [_pattern(text) for text in constraints.lacks]
        self._like = molecule(constraints.similar_to) if constraints.similar_to else None
        if unknown := sorted(set(constraints.properties) - set(_DESCRIPTORS)):
            raise Unreadable(f"RDKit has no descriptor {unknown[0][:60]!r}; MolWt, TPSA, RingCount, fr_ketone are some")
        self._formula = None
        if constraints.formula is not None:
            try:
                self._formula = formulas.read(constraints.formula)
            except (notation.Unreadable, notation.TooComplex) as error:
                raise Unreadable(f"formula {constraints.formula[:60]!r}: {error}") from error
        elif constraints.isomer_of is not None:
            self._formula = _formula_of(molecule(constraints.isomer_of))

    def judge(self, answer: str, params: ChemistryParams) -> Verdict:
        constraints = self._wanted
        start = constraints.starts_with or ""
        smiles = answer if answer.startswith(start) else start + answer
        mol = molecule(smiles, params.notation)
        if any(atom.GetAtomicNum() == 0 for atom in mol.GetAtoms()):
            raise Unreadable("it has an atom without an element")
        if reason := self._unmet(mol):
            return Verdict.wrong(reason, answer)
        return Verdict.correct(answer)

    def _unmet(self, mol: Chem.Mol) -> str | None:
        constraints = self._wanted
        formula = self._formula
        if formula is not None and formulas.difference(formula, _formula_of(mol), by_composition=True):
            return "wrong_formula"
        if not all(mol.HasSubstructMatch(pattern) for pattern in self._has):
            return "missing_group"
        if any(mol.HasSubstructMatch(pattern) for pattern in self._lacks):
            return "forbidden_group"
        for name, (low, high) in constraints.properties.items():
            value = _DESCRIPTORS[name](mol)
            if not (low is None or value >= low) or not (high is None or value <= high):
                return "out_of_range"
        if self._like is not None and _similarity(mol, self._like) < constraints.min_similarity:
            return "not_similar"
        return None


def _formula_of(mol: Chem.Mol) -> formulas.Formula:
    return formulas.read(rdMolDescriptors.CalcMolFormula(mol))


def _pattern(text: str) -> Chem.Mol:
    pattern = Chem.MolFromSmarts(text)
    if pattern is None or not pattern.GetNumAtoms():
        raise Unreadable(f"{text[:100]!r} is not a SMARTS pattern")
    return pattern
