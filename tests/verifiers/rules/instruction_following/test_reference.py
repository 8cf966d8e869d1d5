"""What the data sets hold is read; what cannot be judged is the author's to mend, and never 0 or a pass."""

import json
from typing import Any

from tests.tables import table
from verifiers.base import Status
from verifiers.rules.instruction_following import InstructionFollowingParams, judge

ONE = {
    "instruction_id_list": ["keywords:existence"],
    "kwargs": [{"keywords": ["boat"], "N": None}],
    "prompt": "Say boat",
}
OLDER = {"func_name": "verify_keywords", "keyword_list": ["boat"], "N": None, "quantifier": None}


@table(
    "reference",
    [
        ONE,
        json.dumps(ONE),
        [ONE],
        [json.dumps(ONE)],
        json.dumps([ONE]),
        str([json.dumps({"instruction_id": ONE["instruction_id_list"], "kwargs": ONE["kwargs"]})]),
        {"instruction_id": "keywords:existence", "kwargs": {"keywords": ["boat"]}},
        OLDER,
        json.dumps(OLDER),
        [OLDER, ONE],
        {"instruction_id_list": ["count:person_names"], "kwargs": [{"N": 0.0}]},
        {"instruction_id_list": ["keywords:existence"], "kwargs": json.dumps(ONE["kwargs"])},
        {"instruction_id_list": ["keywords:existence"], "kwargs": [json.dumps({"keywords": ["boat"]})]},
        {"instruction_id_list": ["keywords:existence"], "kwargs": {"keywords": ["boat"]}},
        {"instruction_id_list": json.dumps(["keywords:existence"]), "kwargs": str(ONE["kwargs"])},
        {"instruction_id": ["punctuation:no_comma"]},
        {"instruction_id_list": ["punctuation:no_comma"], "kwargs": None},
        {"verifier_metadata": ONE, "responses_create_params": {}},
        {"metadata": json.dumps(ONE)},
        {"dataset": "ifeval", "ground_truth": str([{"instruction_id": ["punctuation:no_comma"], "kwargs": [None]}])},
        [ONE, [OLDER]],
    ],
)
def test_every_form_of_the_data_is_read(reference: Any) -> None:
    assert judge("A boat.", InstructionFollowingParams(reference=reference)).score == 1.0


def listed(name: str, arguments: Any) -> dict[str, Any]:
    return {"instruction_id_list": [name], "kwargs": [arguments]}


@table("profile", ["fixed", "official"])
@table(
    ("reference", "reason", "message"),
    [
        ({}, "bad_reference", "instruction_id_list"),
        ([], "bad_reference", "no instruction"),
        ("", "bad_reference", "neither JSON"),
        ("[[[[[[[[[[]]]]]]]]]]", "bad_reference", "nested"),
        ("[" * 100_000, "bad_reference", "neither JSON"),
        ({"instruction_id_list": [], "kwargs": []}, "bad_reference", "no instruction"),
        ({"instruction_id_list": ["startend:end_checker"]}, "bad_arguments", "lacks ['end_phrase']"),
        ({"instruction_id_list": {"a": 1}, "kwargs": []}, "bad_reference", "must be a list"),
        ({"instruction_id_list": ["punctuation:no_comma"], "kwargs": 5}, "bad_reference", "list of objects"),
        ({"instruction_id_list": ["punctuation:no_comma"] * 2, "kwargs": {}}, "bad_reference", "list of objects"),
        ({"instruction_id_list": ["punctuation:no_comma"], "kwargs": "[{"}, "bad_reference", "neither JSON"),
        ({"ground_truth": {"ground_truth": {"metadata": {"ground_truth": {"metadata": ""}}}}}, "bad_reference", "deep"),
        ([[["punctuation:no_comma"]]], "bad_reference", "neither JSON"),
        ([OLDER] * 65, "bad_reference", "a list of 65"),
        ([[OLDER] * 64, [OLDER]], "bad_reference", "at most 64"),
        ({"instruction_id_list": ["punctuation:no_comma"], "kwargs": []}, "bad_reference", "1 ids, but kwargs has 0"),
        ({"instruction_id_list": ["punctuation:no_comma"] * 65, "kwargs": [{}] * 65}, "bad_reference", "at most 64"),
        (listed("punctuation:no_commas", {}), "unknown_instruction", "did you mean `punctuation:no_comma`"),
        ({"func_name": "verify_keyword"}, "unknown_instruction", "verify_keywords"),
        (listed("punctuation:no_comma", "x"), "bad_arguments", "object"),
        (listed("punctuation:no_comma", {"N": 1}), "bad_arguments", "does not take ['N']"),
        (listed("length_constraints:number_words", {"num_words": 5}), "bad_arguments", "lacks ['relation']"),
        (
            listed("length_constraints:number_paragraphs", {"num_paragraphs": 10**400}),
            "bad_arguments",
            "a whole number",
        ),
        (
            listed("length_constraints:number_words", {"num_words": None, "relation": "at least"}),
            "bad_arguments",
            "lacks ['num_words']",
        ),
        (
            listed("length_constraints:number_words", {"num_words": -1, "relation": "at least"}),
            "bad_arguments",
            "whole number",
        ),
        (
            listed("length_constraints:number_words", {"num_words": 2.5, "relation": "at least"}),
            "bad_arguments",
            "whole number",
        ),
        (
            listed("length_constraints:number_words", {"num_words": 5, "relation": "at most"}),
            "bad_arguments",
            "less than",
        ),
        (listed("keywords:existence", {"keywords": []}), "bad_arguments", "list of 1"),
        (listed("keywords:existence", {"keywords": [" "]}), "bad_arguments", "word or phrase"),
        (
            listed("keywords:letter_frequency", {"letter": "ab", "let_frequency": 1, "let_relation": "at least"}),
            "bad_arguments",
            "one character",
        ),
        (listed("language:response_language", {"language": "xx"}), "bad_arguments", "one of"),
        (listed("copy:copy", {"prompt_to_repeat": ""}), "bad_arguments", "not blank"),
        (listed("startend:end_checker", {"end_phrase": "\u200b"}), "bad_arguments", "not blank"),
        (listed("keywords:existence", {"keywords": ["\u200b"]}), "bad_arguments", "word or phrase"),
        (
            listed("keywords:letter_frequency", {"letter": "\u200b", "let_frequency": 1, "let_relation": "at least"}),
            "bad_arguments",
            "one character",
        ),
        (listed("keywords:existence", {"keywords": "boat"}), "bad_arguments", "list of 1"),
        (listed("keywords:existence", {"keywords": [["boat", "sail"]]}), "bad_arguments", "word or phrase"),
        (listed("count:numbers", {"N": float("inf")}), "bad_arguments", "whole number"),
        (listed("count:numbers", {"N": True}), "bad_arguments", "whole number"),
        (listed("count:numbers", {"N": "3"}), "bad_arguments", "whole number"),
        (listed("words:keywords_specific_position", {"keyword": "a", "n": 0, "m": 1}), "bad_arguments", "1 or more"),
        (listed("ratio:stop_words", {"percentage": 120}), "bad_arguments", "0 to 100"),
        ({"func_name": "verify_letter_frequency", "letter": "ab", "N": 1}, "bad_arguments", "one character"),
        ({"func_name": "validate_word_constraint", "N": 5, "quantifier": "about"}, "bad_arguments", "at most"),
    ],
)
def test_what_cannot_be_judged_is_invalid(reference: Any, reason: str, message: str, profile: Any) -> None:
    for response in ("A boat.", ""):
        verdict = judge(response, InstructionFollowingParams(reference=reference, profile=profile))
        assert (verdict.status, verdict.score, verdict.reason) == (Status.INVALID, None, reason)
        assert message in verdict.detail["message"]


def test_a_keyword_that_is_no_pattern_is_invalid_only_where_it_is_read_as_one() -> None:
    reference = listed("keywords:existence", {"keywords": ["c++("]})
    assert judge("We use c++( here.", InstructionFollowingParams(reference=reference)).score == 1.0
    official = judge("We use c++.", InstructionFollowingParams(reference=reference, profile="official"))
    assert (official.status, official.reason) == (Status.INVALID, "bad_arguments")
