"""The names of tests, as runners and data sets write them."""


def group_of(name: str) -> tuple[str, str, str]:
    """The test, the class and the module of a name of unittest: `test_b (tests.test_a.A.test_b)`, before Python 3.11
    `test_b (tests.test_a.A)`.
    """
    test, _, suffix = name.partition(" (")
    module, _, group = suffix.rstrip(")").removesuffix(f".{test}").rpartition(".")
    return test, group, module
