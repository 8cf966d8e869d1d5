"""slime's remote reward model."""

import json

import pytest

from service.doors.compat.slime import PATH
from tests.conftest import Served
from tests.service.doors.compat.recorded import answer, post, recorded


def test_a_recorded_request_gets_a_number_or_an_object(served: Served) -> None:
    body = recorded("slime")
    assert answer(served, f"{PATH}?verifier=math", body) == 1.0
    found = answer(served, f"{PATH}?verifier=math&shape=dict", body)
    assert set(found) == {"reward", "score", "correct", "cached", "elapsed_ms"}
    assert all(isinstance(value, float) for value in found.values())
    assert (found["reward"], found["cached"]) == (1.0, 1.0)


def test_the_keys_do_not_depend_on_the_sample(served: Served) -> None:
    shapes = []
    for response in ("\\boxed{12}", "\\boxed{13}", ""):
        found = answer(served, f"{PATH}?recipe=think_math&shape=dict", recorded("slime") | {"response": response})
        shapes.append(set(found))
    assert shapes[0] == shapes[1] == shapes[2]


def test_wrong_is_a_number_and_unroutable_is_not(served: Served) -> None:
    body = recorded("slime") | {"response": "no idea"}
    assert answer(served, f"{PATH}?verifier=math", body) == 0.0
    reply = post(served, PATH, body)
    assert (reply.status_code, reply.headers["content-type"]) == (422, "application/problem+json")
    assert "unroutable" in reply.text


def test_a_label_of_json_says_all(served: Served) -> None:
    label = json.dumps({"data_source": "openai/gsm8k", "ground_truth": "12"})
    assert answer(served, PATH, recorded("slime") | {"label": label, "response": "#### 12"}) == 1.0


@pytest.mark.parametrize("label", [None, ""])
def test_rewards_of_form_need_no_label(served: Served, label: str | None) -> None:
    body = {"response": "<think>\na\n</think>\nb", "label": label}
    assert answer(served, f"{PATH}?verifier=think_format&params=%7B%22preset%22:%22deepseek%22%7D", body) == 1.0


def test_an_unknown_shape_is_refused(served: Served) -> None:
    assert post(served, f"{PATH}?verifier=math&shape=list", recorded("slime")).status_code == 422
