"""What counts as a command's wall seconds, by a clock of the test's."""

from sandbox.containers.docker import _MOST_WAITING
from sandbox.containers.patience import MOST_STARVED, Patience

WALL_S = 60.0


def waited(looks: int, *, cpu_per_s: float, waiting: float, cpus: float = 2.0) -> Patience:
    """A command that is looked at each second."""
    patience = Patience(WALL_S, cpus, now_s=100.0, cpu_s=5.0)
    for second in range(1, looks + 1):
        patience.look(100.0 + second, 5.0 + second * cpu_per_s, waiting=waiting)
    return patience


def test_a_command_that_sleeps_or_has_its_cpus_has_its_wall_seconds() -> None:
    for cpu_per_s, waiting in ((0.0, 0.0), (1.0, 1.0), (2.0, 1.0), (0.5, 0.0), (0.01, 0.5)):
        patience = waited(50, cpu_per_s=cpu_per_s, waiting=waiting)
        assert patience.starved_s == 0
        assert not patience.is_over(100.0 + WALL_S)
        assert patience.is_over(100.1 + WALL_S)


def test_a_command_that_waits_has_what_it_lacked() -> None:
    patience = waited(50, cpu_per_s=0.25, waiting=1.0)
    assert patience.starved_s == 37.5
    assert not patience.is_over(100.0 + WALL_S + 37.5)
    assert patience.is_over(100.1 + WALL_S + 37.5)


def test_what_a_ready_thread_would_not_have_got_is_waiting() -> None:
    assert waited(40, cpu_per_s=0.25, waiting=0.75).starved_s == 30
    assert waited(40, cpu_per_s=0.5, waiting=0.25).starved_s == 10


def test_half_a_cpu_is_all_that_half_a_cpu_can_give() -> None:
    assert waited(50, cpu_per_s=0.5, waiting=1.0, cpus=0.5).starved_s == 0


def test_it_is_looked_at_each_sixtieth_and_before_it_is_over() -> None:
    patience = Patience(WALL_S, 1.0, now_s=0.0, cpu_s=0.0)
    assert [patience.is_due(now) for now in (0.5, 1.0, 61.0)] == [False, True, True]
    short = Patience(0.1, 1.0, now_s=0.0, cpu_s=0.0)
    assert [short.is_due(now) for now in (0.05, 0.2)] == [False, True]


def test_it_is_given_up_in_the_end() -> None:
    seconds = int(MOST_STARVED * WALL_S)
    assert not waited(seconds, cpu_per_s=0.0, waiting=1.0).is_hopeless
    assert waited(seconds + 1, cpu_per_s=0.0, waiting=1.0).is_hopeless


def test_what_gvisor_uses_for_a_container_that_sleeps_is_no_sign_of_waiting() -> None:
    assert waited(40, cpu_per_s=0.001, waiting=_MOST_WAITING).starved_s == 0
    assert waited(40, cpu_per_s=0.01, waiting=_MOST_WAITING).starved_s > 39
