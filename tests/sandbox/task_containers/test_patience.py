"""What counts as a command's wall seconds, by a clock of the test's."""

from sandbox.containers.patience import MOST_STARVED, Patience

WALL_S = 60.0


def waited(looks: int, *, cpu_per_s: float, wants_cpu: bool, cpus: float = 2.0) -> Patience:
    """A command that is looked at each second."""
    patience = Patience(WALL_S, cpus, now_s=100.0, cpu_s=5.0)
    for second in range(1, looks + 1):
        patience.look(100.0 + second, 5.0 + second * cpu_per_s, wants_cpu=wants_cpu)
    return patience


def test_a_command_that_sleeps_or_has_its_cpus_has_its_wall_seconds() -> None:
    for cpu_per_s, wants_cpu in ((0.0, False), (1.0, True), (2.0, True), (0.5, False)):
        patience = waited(50, cpu_per_s=cpu_per_s, wants_cpu=wants_cpu)
        assert patience.starved_s == 0
        assert not patience.is_over(100.0 + WALL_S)
        assert patience.is_over(100.1 + WALL_S)


def test_a_command_that_waits_has_what_it_lacked() -> None:
    patience = waited(50, cpu_per_s=0.25, wants_cpu=True)
    assert patience.starved_s == 37.5
    assert not patience.is_over(100.0 + WALL_S + 37.5)
    assert patience.is_over(100.1 + WALL_S + 37.5)


def test_half_a_cpu_is_all_that_half_a_cpu_can_give() -> None:
    assert waited(50, cpu_per_s=0.5, wants_cpu=True, cpus=0.5).starved_s == 0


def test_it_is_looked_at_each_sixtieth_and_before_it_is_over() -> None:
    patience = Patience(WALL_S, 1.0, now_s=0.0, cpu_s=0.0)
    assert [patience.is_due(now) for now in (0.5, 1.0, 61.0)] == [False, True, True]
    short = Patience(0.1, 1.0, now_s=0.0, cpu_s=0.0)
    assert [short.is_due(now) for now in (0.05, 0.2)] == [False, True]


def test_it_is_given_up_in_the_end() -> None:
    seconds = int(MOST_STARVED * WALL_S)
    assert not waited(seconds, cpu_per_s=0.0, wants_cpu=True).is_hopeless
    assert waited(seconds + 1, cpu_per_s=0.0, wants_cpu=True).is_hopeless
