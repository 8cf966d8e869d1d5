"""Fresh items with programs: code with tests, queries, proofs, patches, and tasks of reasoning-gym."""

from typing import Any

from tests.siege.fresh.draw import Draw, Posted


def code(draw: Draw) -> Posted:
    name, plus = draw.name(), draw.fresh_int()
    numbers = [(draw.randint(-999, 999), draw.randint(-999, 999)) for _ in range(draw.randint(2, 5))]
    minus = 0 if draw.is_right else 1
    body = f"def {name}(a, b):\n    return a + b + {plus - minus}"
    kind = draw.choice(("stdio", "function", "assert", "check_based"))
    reference: dict[str, Any] = {"case_type": kind}
    if kind == "stdio":
        body = f"# {name}\nprint(sum(map(int, input().split())) + {plus - minus})"
        reference["test_cases"] = {
            "inputs": [f"{a} {b}\n" for a, b in numbers],
            "outputs": [f"{a + b + plus}\n" for a, b in numbers],
        }
    elif kind == "function":
        reference |= {"fn_name": name}
        reference["test_cases"] = [{"input": f"{a}\n{b}", "expected_output": str(a + b + plus)} for a, b in numbers]
    elif kind == "assert":
        reference["test_cases"] = [f"assert {name}({a}, {b}) == {a + b + plus}" for a, b in numbers]
    else:  # as long as a row of LeetCodeDataset
        numbers = [(draw.fresh_int(), draw.fresh_int()) for _ in range(150)]
        asserts = "".join(f"    assert candidate(a = {a}, b = {b}) == {a + b + plus}\n" for a, b in numbers)
        reference |= {"entry_point": name, "test": f"def check(candidate):\n{asserts}"}
    params = {"time_limit_s": 4 + draw.fraction()}
    return Posted(f"{draw.prose(3)}\n\n```python\n{body}\n```", float(draw.is_right), reference, params)


def code_quality(draw: Draw) -> Posted:
    """Only the tests have weight, so that a right program gets 1."""
    posted = code(draw)
    weights = {"correctness": 1 + draw.fraction(), "efficiency": 0, "style": 0}
    return Posted(posted.response, posted.score, posted.reference, {**posted.params, "weights": weights})


def sql(draw: Draw) -> Posted:
    table, label, amount, shop = draw.names(4)
    rows = [(draw.name(), draw.randint(1, 99), draw.choice("ABC")) for _ in range(draw.randint(3, 20))]
    values = ", ".join(f"('{name}', {price}, '{place}')" for name, price, place in rows)
    script = f"CREATE TABLE {table} ({label} TEXT, {amount} REAL, {shop} TEXT);INSERT INTO {table} VALUES {values};"
    least = draw.randint(0, 99)
    wanted = f"SELECT {label}, {amount} FROM {table} WHERE {amount} >= {least} OR {shop} = 'A'"
    said = f"SELECT t.{label}, t.{amount} FROM {table} AS t WHERE t.{shop} = 'A' OR t.{amount} >= {least}"
    if not draw.is_right:
        said = f"SELECT {label}, {amount} + 1 FROM {table}"
    response = f"{draw.prose(3)}\n```sql\n{said};\n```"
    params = {"float_tol": draw.fraction(1e-9, 1e-6), "allow_empty": True}
    return Posted(response, float(draw.is_right), {"setup_sql": script, "sql": wanted}, params, draw.sentence())


def lean(draw: Draw) -> Posted:
    name, a, b = draw.name(), draw.fresh_int(2), draw.randint(1, 999)
    statement = f"theorem {name} : {a} + {b} = {a + b} := by"
    proof = "norm_num" if draw.is_right else "unknown_tactic"
    response = f"{draw.prose(3)}\n```lean4\n{statement}\n  {proof}\n```"
    return Posted(response, float(draw.is_right), f"{statement} sorry", {"timeout_s": 60 + draw.fraction()})


def _patch(draw: Draw) -> str:
    said = "numbers" if draw.is_right else "numbers[:1]"
    return (
        f"{draw.prose(2)}\n\n```diff\n--- a/total.py\n+++ b/total.py\n@@ -1,2 +1,2 @@\n def total(numbers):\n"
        f"-    return sum(numbers[1:])\n+    return sum({said})  # {draw.name()}\n```\n"
    )


def repository(draw: Draw) -> Posted:
    """A task upon the repository of the examples, with a test of its own."""
    name, a, b = draw.name(), draw.fresh_int(), draw.randint(1, 999)
    test = f"from total import total\n\n\ndef test_{name}():\n    assert total([{a}, {b}]) == {a + b}\n"
    reference = {
        "image": "rewardline-example",
        "workdir": "/testbed",
        "test_command": f"python3 -m pytest -q test_{name}.py",
        "test_files": {f"test_{name}.py": test},
        "fail_to_pass": [f"test_{name}.py::test_{name}"],
    }
    return Posted(_patch(draw), float(draw.is_right), reference)


def harbor(draw: Draw) -> Posted:
    name, a, b = draw.name(), draw.fresh_int(), draw.randint(1, 999)
    test = (
        f'#!/bin/sh\n# {name}\nif python3 -c "from total import total; assert total([{a}, {b}]) == {a + b}"\n'
        "then echo 1 >/logs/verifier/reward.txt\nelse echo 0 >/logs/verifier/reward.txt\nfi\n"
    )
    files = {"task.toml": f"[verifier]\ntimeout_sec = {60 + draw.fraction()}\n", "tests/test.sh": test}
    reference = {"image": "rewardline-example", "workdir": "/testbed", "files": files}
    return Posted(_patch(draw), float(draw.is_right), reference, {"form": "change"})


def reasoning_gym(draw: Draw) -> Posted:
    """Tasks of arithmetic, with new numbers in question, answer and metadata."""
    a, b = draw.fresh_int(), draw.randint(10, 999)
    task, question, answer, metadata = draw.choice(
        (
            ("chain_sum", f"{a} + {b} =", a + b, {"expression": f"{a} + {b}"}),
            ("products", f"{a} * {b} =", a * b, {"expression": f"{a} * {b}"}),
            ("gcd", f"gcd({a * 6}, {a * 9}) =", a * 3, {"numbers": [a * 6, a * 9], "result": a * 3}),
        )
    )
    said = answer if draw.is_right else answer + 1
    reference = {
        "question": f"State the final answer to the following problem: {question}",
        "answer": str(answer),
        "metadata": {"source_dataset": task, "source_index": draw.index, **metadata},
    }
    return Posted(f"{draw.thought()}<answer>{said}</answer>", float(draw.is_right), reference)
