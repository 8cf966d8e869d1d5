"""Formulas, equations and molecules in the notations that data sets and models use."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.workers import Exit, Outcome
from tests.tables import table
from tests.verifiers.found import Found
from verifiers import chemistry
from verifiers.base import Item, Status, Verdict
from verifiers.chemistry import ChemistryParams, answers, formulas, notation
from verifiers.long_texts import fields_of

WATER = "2H2 + O2 -> 2H2O"
BUTANONE = {
    "formula": "C4H8O",
    "contains": ["[#6][CX3](=O)[#6]"],
    "properties": {"RingCount": [0, 0], "fr_ketone": [1, None]},
}


def compared(reference: str, answer: str, **params: Any) -> str | None:
    params = {"states": params.get("states", "agree"), "by_composition": params.get("structure") == "ignore"}
    try:
        return answers.difference(answers.read_reference(reference), answer, **params)
    except notation.Unreadable:
        return "unparseable"
    except notation.TooComplex:
        return "too_complex"


@table(
    "answer",
    [
        *(
            "H2O",
            "H₂O",
            "H_2O",
            r"\ce{H2O}",
            r"\mathrm{H_2O}",
            r"\text{H}_2\text{O}",
            r"\(H_{2}O\)",
            "HOH",
            r"H_2O_{(l)}",
            "H2O(l).",
        ),
        *(r"\mathrm{H}_{2}\mathrm{O}\,(\text{l})", r"\rm H_2O"),
    ],
)
def test_a_formula_is_read_in_any_notation(answer: str) -> None:
    assert compared("H2O", answer) is None


@table(
    "reference, answer, reason",
    [
        (r"\mathrm{SO_4^{2-}}", "SO₄²⁻", None),
        (r"\mathrm{SO_4^{2-}}", r"\ce{SO4^2-}", None),
        (r"\mathrm{SO_4^{2-}}", "SO42-", None),
        (r"\mathrm{SO_4^{2-}}", "SO_4^{-2}", None),
        (r"\mathrm{SO_4^{2-}}", "SO_4", "wrong_charge"),
        (r"\mathrm{SO_4^{2-}}", r"\ce{SO3^2-}", "wrong_answer"),
        ("Fe3+", "Fe^{3+}", None),
        ("Fe3+", "Fe^{2+}", "wrong_charge"),
        ("MnO4-", "MnO_4^-", None),
        (r"\ce{I3-}", "I_3^-", None),
        (r"\ce{I3-}", "I^{3-}", "wrong_answer"),
        (r"\ce{N3-}", r"\ce{N3-}", None),
        (r"\ce{Fe3+}", "Fe^{3+}", None),
        ("N3-", "N^{3-}", None),
        ("Al(OH)4-", "[Al(OH)_4]^-", None),
        ("[Cu(NH3)4]2+", r"[\mathrm{Cu(NH_3)_4}]^{2+}", None),
        (r"{}^{14}\mathrm{C}", "^{14}_6C", None),
        (r"{}^{14}\mathrm{C}", "C-14", None),
        (r"{}^{14}\mathrm{C}", "^{12}C", "wrong_isotope"),
        (r"{}^{14}\mathrm{C}", "^{14}_7C", "unparseable"),
        ("D2O", "H2O", "wrong_isotope"),
        ("CO", "Co", "wrong_answer"),
        ("Ca(OH)2", "CaOH_2", "wrong_answer"),
        ("C6H12O6", "CH2O", "wrong_answer"),
        ("AgCl(s)", "AgCl", None),
        ("AgCl(s)", "AgCl(aq)", "wrong_state"),
        *(("CuSO4·5H2O", text, None) for text in ("CuSO4.5H2O", r"CuSO_4\cdot 5H_2O", "CuSO4 * 5 H2O", "CuSO4Â·5H2O", "CuSO₄•5H₂O")),
        ("CuSO4·5H2O", "CuSO4·4H2O", "wrong_answer"),
        ("[Ar] 4s^1 3d^5", r"[\text{Ar}]3d^5 4s^1", None),
        ("1s^2 2s^2 2p^6 3s^1", "[Ne]3s1", None),
        ("[Ar] 4s^1 3d^5", "[Ar] 4s^2 3d^4", "wrong_answer"),
        ("sp^3", r"\mathrm{sp}^3", None),
        ("2,2-dimethylpropane", r"2,2-\text{Dimethylpropane}", None),
        ("2,2-dimethylpropane", "2,3-dimethylpropane", "wrong_answer"),
        ("H2O", "0H2O", "unparseable"),
        ("H2O", "H2O or H2O2", "unparseable"),
        ("H2O", "H9999999999", "too_complex"),
        ("H2O", "(" * 40 + "H", "too_complex"),
        ("H2O", "H" * 3000, "too_complex"),
    ],
)  # fmt: skip
def test_composition_charge_isotopes_and_states_count(reference: str, answer: str, reason: str | None) -> None:
    assert compared(reference, answer) == reason


@table(
    "reference, answer, is_same",
    [
        ("CH3CH2OH", "HOCH2CH3", True),
        ("CH3CH2OH", "CH3OCH3", False),
        ("CH3CH2OH", "C2H6O", False),
        ("C2H6O", "CH3CH2OH", True),
        ("CH3CH(OH)CH3", "(CH3)2CHOH", True),
        ("CH3CH(OH)CH2CH2CH3", "CH3CH2CH(OH)CH2CH3", False),
        ("CH3(CH2)4CH3", "CH3CH2CH2CH2CH2CH3", True),
        ("CH2=CH2", "H2C=CH2", True),
        ("CH3COOH", "HOOCCH3", True),
        ("CH3COONa", "NaCH3COO", True),
        ("C6H5CH3", "CH3C6H5", True),
        ("[Co(NH3)5Br]SO4", "[Co(NH3)5SO4]Br", False),
        ("K3[Fe(CN)6]", "K3Fe(CN)6", True),
    ],
)
def test_a_formula_that_shows_neighbours_asks_for_them(reference: str, answer: str, is_same: bool) -> None:
    assert (compared(reference, answer) is None) is is_same
    assert compared(reference, answer, structure="ignore") is None


@table(
    "answer, reason",
    [
        ("O2 + 2 H2 = 2 H2O", None),
        (r"4H_2 + 2O_2 \rightarrow 4H_2O", None),
        (r"\ce{H2 + 1/2 O2 <=> H2O}", None),
        (r"H_2 + \frac{1}{2}O_2 \xrightarrow[\Delta]{\text{heat}} H_2O", None),
        ("2H2(g)+O2(g)→2H2O(l)", None),
        (r"2H_2+O_2\xlongequal[]{点燃}2H_2O", None),
        (r"2H_2+O_2\stackrel{点燃}{=\!=\!=}2H_2O", None),
        ("2H₂+O₂=点燃=2H₂O", None),
        ("2H2+O2 =(点燃)= 2H2O", None),
        ("2H2 + O2 == 2H2O", None),
        ("2H2 + O2 == H2O", "unbalanced"),
        ("2H2O ← O2 + 2H2", None),
        ("H2 + H2 + O2 → 2H2O", None),
        ("H2 + O2 → H2O", "unbalanced"),
        ("H2 + O2 → H2O2", "wrong_answer"),
        ("2H2O → 2H2 + O2", "wrong_answer"),
        ("2H2 + O2 + N2 → 2H2O + N2", "wrong_answer"),
        ("0H2 + O2 → 2H2O", "unparseable"),
        ("9999999999H2 + O2 → 2H2O", "too_complex"),
        ("2H2 + O2", "wrong_answer"),
        ("2H2 + O2 → 2H2O → H2", "unparseable"),
    ],
)
def test_equations_are_the_same_up_to_a_factor(answer: str, reason: str | None) -> None:
    assert compared(WATER, answer) == reason


@table(
    "equation, is_balanced",
    [
        ("MnO4- + 8H+ + 5e- → Mn2+ + 4H2O", True),
        ("MnO4- + 8H+ → Mn2+ + 4H2O", False),
        (r"^{238}_{92}U \to ^{234}_{90}Th + ^4_2He", True),
        (r"{}^{14}_{6}\text{C} \rightarrow {}^{14}_{7}\text{N} + {}^{0}_{-1}\text{e}", True),
        ("^{235}_{92}U + ^1_0n → ^{141}_{56}Ba + ^{92}_{36}Kr + 3^1_0n", True),
        ("^{235}_{92}U + ^1_0n → ^{141}_{56}Ba + ^{92}_{36}Kr + 2^1_0n", False),
        ("^{238}_{92}U → ^{234}_{90}Th + α", True),
        (r"\mathrm{AgCl_{(s)} \rightleftharpoons Ag^+_{(aq)} + Cl^-_{(aq)}}", True),
        ("H+ + OH- = H2O", True),
        ("H++OH-→H2O", True),
        ("CH2=CH2 + H2 → CH3CH3", True),
    ],
)
def test_equations_keep_atoms_charge_and_mass(equation: str, is_balanced: bool) -> None:
    assert formulas.read(equation).is_balanced is is_balanced


@given(st.text("HCOFe23+-^_{}()[]·=→. \\ce", max_size=40))
def test_any_text_is_read_or_refused_and_a_formula_is_itself(text: str) -> None:
    assert compared(text, text) in (None, "unparseable", "too_complex")


# --- over real workers


Judge = Callable[..., Verdict]


@pytest.fixture
def judge(found: Found) -> Judge:
    def ask(response: str, verifier: str = "chemistry", **params: Any) -> Verdict:
        entry = found.registry[verifier]
        (verdict,) = found.score(entry, [Item(response, entry.verifier.params.model_validate(params))])
        return verdict

    return ask


@table(
    "answer, params, score, reason",
    [
        ("C1=CC=CC=C1", {"reference": "c1ccccc1"}, 1, "correct"),
        ("`OCC`", {"reference": "CCO"}, 1, "correct"),
        ("SMILES: OCC", {"reference": "CCO"}, 1, "correct"),
        ("InChI=1S/C2H6O/c1-2-3/h3H,2H2,1H3", {"reference": "CCO"}, 1, "correct"),
        ("[C][C][O]", {"reference": "[O][C][C]", "notation": "selfies"}, 1, "correct"),
        ("[CH3:1][CH2:2]O", {"reference": "CCO"}, 1, "correct"),
        ("OC.CCN>>CCO", {"reference": "NCC.CO>>OCC"}, 1, "correct"),
        ("C[C@H](N)C(=O)O", {"reference": "C[C@@H](N)C(=O)O"}, 0, "wrong_stereo"),
        ("C[C@H](N)C(=O)O", {"reference": "C[C@@H](N)C(=O)O", "stereo": False}, 1, "correct"),
        ("[Na+].CC(=O)[O-]", {"reference": "CC(=O)[O-]", "largest_fragment": True}, 1, "correct"),
        ("CCO CCN", {"reference": "CCO"}, 0, "invalid_molecule"),
        ("CC(C", {"reference": "CCO"}, 0, "invalid_molecule"),
        ("C(C)(C)(C)(C)C", {"reference": "CCO"}, 0, "invalid_molecule"),
        ("C" * 5000, {"reference": "CCO"}, 0, "invalid_molecule"),
        ("CCC(C)=O", {"reference": BUTANONE}, 1, "correct"),
        ("CCCC=O", {"reference": BUTANONE}, 0, "missing_group"),
        ("CC(C)=O", {"reference": BUTANONE}, 0, "wrong_formula"),
        ("CCO", {"reference": {"lacks": ["[OX2H]"]}}, 0, "forbidden_group"),
        ("CCO", {"reference": {"properties": {"MolWt": [50, None]}}}, 0, "out_of_range"),
        ("CCO", {"reference": {"isomer_of": "COC", "similar_to": "COC"}}, 0, "not_similar"),
        ("=O", {"reference": {"starts_with": "CC(C)"}}, 1, "correct"),
        ("*C", {"reference": {}}, 0, "invalid_molecule"),
        ("CCO", {"reference": "CC(C"}, None, "unparseable_reference"),
        ("CCO", {"reference": {"properties": {"Weight": [1, 2]}}}, None, "unparseable_reference"),
        ("CCO", {"reference": {"contains": ["(("]}}, None, "unparseable_reference"),
        ("CCO", {"reference": "product_eval!:![Na+].OCC!:!reaction-prediction"}, 1, "correct"),
        ("Methyl 2-chloroacetate", {"reference": "str_eval!:!methyl 2-chloroacetate!:!x"}, 1, "correct"),
    ],
)
def test_molecules_are_the_same_by_their_canonical_form(
    judge: Judge, answer: str, params: dict[str, Any], score: float | None, reason: str
) -> None:
    kind = {} if "!:!" in str(params["reference"]) else {"kind": "molecule"}
    verdict = judge(f"<answer>{answer}</answer>", **kind, **params)
    assert (verdict.score, verdict.reason) == (score, reason)


def test_a_near_molecule_earns_a_share_of_its_similarity(judge: Judge) -> None:
    near = judge("<answer>CCCO</answer>", reference="CCO", kind="molecule", partial_credit=0.5)
    far = judge("<answer>c1ccccc1</answer>", reference="CCO", kind="molecule", partial_credit=0.5)
    assert near.reason == "partial"
    assert 0 < (near.score or 0) < 0.5
    assert far.score == 0


@table(
    "response, reference, score",
    [
        (r"\boxed{\ce{2H2 + O2 -> 2H2O}}", r"2H_2 + O_2 \rightarrow 2H_2O", 1),
        (r"\boxed{\text{CH}_3\text{CH}_2\text{OH}}", "CH3CH2OH", 1),
        (r"\boxed{\text{CH}_3\text{OCH}_3}", "CH3CH2OH", 0),
        ("The formula is $H_2O$.", "H2O", 1),
        (r"\boxed{\text{NO}_2}", "NO2", 1),
        (r"\boxed{No2}", "NO2", 0),
        (r"\boxed{\ce{CO2}}", r"\mathrm{CO_2}", 1),
        (r"\boxed{sp^3}", r"\mathrm{sp}^3", 1),
        (r"\boxed{2,2-\text{dimethylpropane}}", "2,2-dimethylpropane", 1),
        (r"\boxed{pH = 7.4}", "7.4", 1),
        (r"\boxed{pH = 7.5}", "7.4", 0),
        (r"\boxed{CBHF}", "FHBC", 0),
        (r"\boxed{H_2C}", "CH_2", 0),
        ("No", "NO", 1),
        ("C_2^3", "C_3^2", 0),
    ],
)
def test_math_reads_a_formula_where_the_reference_is_one(
    judge: Judge, response: str, reference: str, score: float
) -> None:
    assert judge(response, "math", reference=reference).score == score


@table(
    "response, reference, reason",
    [
        ("Answer: CuSO4·5H2O.", "CuSO4·5H2O", "correct"),
        ("Thus the balanced equation is\n\n$$\\ce{2H2 + O2 -> 2H2O}$$", WATER, "correct"),
        ("**2H₂ + O₂ → 2H₂O**", WATER, "correct"),
        ("<|think_start|>CO<|think_end|><|answer_start|>CO2<|answer_end|>", "CO2", "correct"),
        ("It is not H2O.", "H2O", "no_answer"),
        ("The answer is Na+ and Cl-.", "Na+", "unparseable"),
        ("The answer is H2O or H2O2.", "H2O", "conflicting_answers"),
        (r"\boxed{H2O} or \boxed{H2O2}", "H2O", "conflicting_answers"),
        (r"The answer is CO2 (should be CO).", "CO2", "conflicting_answers"),
        (r"\boxed{H2 -> H2O}", "H2 -> H2O", "unbalanced_reference"),
        (r"\boxed{H2O}", "water!", "unparseable_reference"),
    ],
)
def test_the_answer_of_a_response_is_judged(judge: Judge, response: str, reference: str, reason: str) -> None:
    assert judge(response, reference=reference).reason == reason


async def test_what_breaks_a_worker_is_blamed_on_the_side_that_does_so() -> None:
    class Breaking:
        """Workers that a text breaks: a crash or a limit that no known text causes."""

        async def map(self, task: Any, payloads: Any, take: Any = None) -> list[Outcome]:
            outcomes = []
            for params, response, _ in payloads:
                breaks = "BREAKS" in params or "BREAKS" in (response or "")
                right = fields_of(Verdict.wrong())
                outcomes.append(Outcome(Exit.CRASHED if breaks else Exit.OK, None if breaks else right, ""))
            if take is not None:
                for position, outcome in enumerate(outcomes):
                    take(position, outcome)
            return outcomes

    verifier = chemistry.Chemistry(Breaking(), True)  # type: ignore[arg-type]  # a fault that real workers do not have
    items = [
        Item(f"<answer>{answer}</answer>", ChemistryParams(reference=reference, kind="molecule"))
        for answer, reference in (("BREAKS", "CCO"), ("CCO", "BREAKS"), ("CCO", "CCO"))
    ]
    assert [(verdict.status, verdict.reason) for verdict in await verifier.score(items)] == [
        (Status.OK, "too_complex"),
        (Status.INVALID, "params_too_complex"),
        (Status.OK, "wrong_answer"),
    ]


async def test_without_the_extra_molecules_are_failed_and_formulas_are_judged() -> None:
    verifier = chemistry.Chemistry(None, False)  # type: ignore[arg-type]  # no worker is asked
    items = [
        Item("<answer>CCO</answer>", ChemistryParams(reference="CCO", kind="molecule")),
        Item("<answer>H2O</answer>", ChemistryParams(reference="H2O")),
    ]
    failed, judged = await verifier.score(items)
    assert (failed.status, failed.reason) == (Status.FAILED, "no_rdkit")
    assert "rewardline-server[chemistry]" in failed.detail["message"]
    assert judged.score == 1


@table(
    "reference, response, score",
    [
        *(("NO2", text, 1.0) for text in ("NO2", "NO_2", "**NO2**", "Nitrogen dioxide: NO2", "The gas is **NO2**.")),
        ("He", "He", 1.0),
        ("H2O", "The formula of water is H2O.", 1.0),
        ("NaCl", "So the compound is sodium chloride, NaCl.", 1.0),
        ("2H2 + O2 -> 2H2O", "The balanced equation is:\n\n2H2 + O2 → 2H2O", 1.0),
        ("CuSO4·5H2O", "CuSO4 · 5 H2O", 1.0),
        ("CuSO4·5H2O", r"CuSO_4 \cdot 5H_2O", 1.0),
        *(("SO4^{2-}", text, 1.0) for text in ("SO4^2-", "SO4(2-)", "SO4--", "[SO4]2-", "SO4 2-", "SO_{4}^{2−}")),
        ("^{14}C", "14C", 1.0),
        ("2H", "^2H", 0.0),
        ("H2O", "The formula is not H2O.", 0.0),
        ("H2O", "Is it H2O?", 0.0),
        ("H2O", "It might be H2O.", 0.0),
        ("H2O", "The product is CO2, H2O.", 0.0),
        ("H2O", "CO2, H2O", 0.0),
        ("H2O", "The formula could be H2O or H2O2.", 0.0),
        ("Fe2O3", "The empirical formula is Fe3O4, not Fe2O3.", 0.0),
    ],
)
def test_a_formula_is_found_without_a_mark(reference: str, response: str, score: float) -> None:
    assert chemistry.judge(response, ChemistryParams(reference=reference)).score == score


@table(
    "response, score",
    [
        ("**ethanol**", 1.0),
        ("The compound is **ethanol**.", 1.0),
        ("Answer: **Ethanol**", 1.0),
        ("The compound is not ethanol.", 0.0),
        ("ethanol or methanol", 0.0),
    ],
)
def test_a_name_is_found_without_a_mark(response: str, score: float) -> None:
    assert chemistry.judge(response, ChemistryParams(reference="ethanol", kind="name")).score == score


@table(
    "text, is_same",
    [(r"\ce{Na2CO3.10H2O}", True), ("Na2CO3 · 10 H2O", True), (r"\ce{Na2CO3.9H2O}", False), (r"\ce{Na2CO3}", False)],
)
def test_the_dot_of_a_hydrate_is_written_in_one_way(text: str, is_same: bool) -> None:
    assert (formulas.written(text) == formulas.written(r"\mathrm{Na_2CO_3\cdot 10H_2O}")) is is_same
