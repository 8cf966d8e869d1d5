"""Reward files, as Harbor's own verifier (0.26) reads them."""

import pytest

from tests.tables import table
from verifiers.harbor.rewards import MAX_REWARD_BYTES, NoReward, reward, rewards

READ = [
    ("reward.txt", b"1", {"reward": 1.0}),
    ("reward.txt", b" 0.5\n", {"reward": 0.5}),
    ("reward.txt", b"-1e-1", {"reward": -0.1}),
    ("reward.json", b'{"reward": 1}', {"reward": 1.0}),
    ("reward.json", b'{"a": 0.5, "b": true}', {"a": 0.5, "b": 1.0}),
    ("reward.json", b"{}", {}),
]
REFUSED = [
    ("reward.txt", b""),
    ("reward.txt", b"\n"),
    ("reward.txt", b"one"),
    ("reward.txt", b"nan"),
    ("reward.txt", b"inf"),
    ("reward.txt", b"1e999"),
    ("reward.txt", b"\xff1"),
    ("reward.txt", b"1" * (MAX_REWARD_BYTES + 1)),
    ("reward.json", b""),
    ("reward.json", b"1"),
    ("reward.json", b"[1]"),
    ("reward.json", b'{"reward": "1"}'),
    ("reward.json", b'{"reward": null}'),
    ("reward.json", b'{"reward": NaN}'),
    ("reward.json", b'{"reward": 1e309}'),
    ("reward.json", b'{"reward": {"a": 1}}'),
    ("reward.json", b'{"reward": 1' + b"0" * 400 + b"}"),
    ("reward.json", b"[" * 20_000),
    ("reward.json", b'{"reward": 1'),
]


def test_rewards_are_read() -> None:
    assert [rewards(name, content) for name, content, _ in READ] == [found for _, _, found in READ]


@table(("name", "content"), REFUSED)
def test_what_is_no_reward_is_refused(name: str, content: bytes) -> None:
    with pytest.raises(NoReward):
        rewards(name, content)


def test_one_reward_counts() -> None:
    assert reward("reward.json", b'{"reward": 0.5, "style": 1}', None) == 0.5
    assert reward("reward.json", b'{"tests": 0.5}', None) == 0.5
    assert reward("reward.json", b'{"tests": 0.5, "style": 1}', "style") == 1.0
    for content, key in ((b'{"tests": 0.5, "style": 1}', None), (b'{"reward": 1}', "tests"), (b"{}", None)):
        with pytest.raises(NoReward):
            reward("reward.json", content, key)
