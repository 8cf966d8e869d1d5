"""Which part of a response is its program."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import table
from verifiers import code_blocks
from verifiers.code_blocks import Found, Select


def code(response: str, language: str | None = "python", select: Select = "last") -> str | None:
    return code_blocks.extract(response, language, select=select).code


def reason(response: str, language: str | None = "python") -> str:
    return code_blocks.extract(response, language).reason


def test_the_last_block_of_the_language_is_the_program() -> None:
    response = "First:\n```python\na = 1\n```\nbetter:\n```python\na = 2\n```\nIt prints\n```\n2\n```\n"
    assert code(response) == "a = 2\n"


@pytest.mark.parametrize(
    "info",
    ["python", "Python", "py", "python3", "PYTHON3", "python3.11", "{.python}", "python title='x.py'", " python "],
)
def test_every_spelling_of_a_language_counts(info: str) -> None:
    assert code(f"```{info}\na = 1\n```") == "a = 1\n"


@pytest.mark.parametrize("info", ["pythonic", "text", "pycon", "javascript", "python-console", "cpp", "3"])
def test_other_words_are_another_language(info: str) -> None:
    assert reason(f"```{info}\na = 1\n```") == "no_code"


def test_the_language_is_read_from_the_whole_word() -> None:
    assert code("```javascript\nx\n```", "javascript") == "x\n"
    assert reason("```javascript\nx\n```", "java") == "no_code"
    assert code("```c++\nx\n```", "cpp") == "x\n"
    assert code("```c++17\nx\n```", "cpp") == "x\n"


def test_the_wanted_language_decides_between_several() -> None:
    response = "```python\np\n```\n```cpp\nc\n```\n"
    assert code(response, "python") == "p\n"
    assert code(response, "cpp") == "c\n"


def test_without_a_wanted_language_the_last_tagged_block_says_it() -> None:
    response = "```python\np\n```\n```cpp\nc\n```\n```\nout\n```"
    assert code_blocks.find(response, None) == Found("c\n", "found", "cpp", is_fenced=True)
    assert code_blocks.find("```\np\n```", None).language == "python"


@table(
    ("response", "language"),
    [
        ("```python\np\n```\nRun it:\n```bash\npython3 sol.py < in.txt\n```", "python"),
        ("```cpp\nc\n```\n```sql\nselect 1;\n```", "cpp"),
        ("```\np\n```\n```sh\npython3 sol.py\n```", "python"),
        ("```bash\necho 1\n```", "bash"),
        ("```python\np\n```\n```go\ng\n```", "python"),
        ("```go\ng\n```", "go"),
    ],
)
def test_the_language_is_that_of_the_last_program_which_the_tests_can_run(response: str, language: str) -> None:
    allowed = {"python", "cpp", "bash", "sql"}
    assert code_blocks.find(response, None, languages=allowed).language == language


def test_a_block_that_only_calls_the_function_is_an_example() -> None:
    response = "```python\ndef f(x):\n    return x\n```\nIt is used so:\n```python\nprint(f(1))\n```"
    assert code_blocks.find(response, "python", entry_point="f").code == "def f(x):\n    return x\n"
    assert code_blocks.find(response, "python").code == "print(f(1))\n"


@table(
    ("response", "reason"),
    [
        ("a = 1\n```", "found"),
        ("a = 1\n```\n", "found"),
        ("a = 1\n```\nThis sets a.", "found"),
        ("a = 1\n```\nRun it:\n```bash\npython3 a.py\n```", "found"),
        ("a = 1\n```\nIt prints\n```\n2\n```\n", "found"),
        ("a = 1\n\n~~~", "found"),
        ("So it is:\n```\na = 1", "truncated"),
        ("So it is:\n```\na = 1\n```\n```", "found"),
        ("I do not know.\n```", "no_code"),
    ],
)
def test_a_prompt_may_have_opened_the_fence(response: str, reason: str) -> None:
    found = code_blocks.extract(response, "python")
    assert found.reason == reason
    assert (found.code or "a = 1").strip() == "a = 1"


@table(
    ("response", "code_text"),
    [
        ("<answer>\na = 1\n</answer>", "a = 1\n"),
        ("It is this.\n<answer>a = 1</answer>\n", "a = 1\n"),
        ("a = 1\n</answer>", "a = 1\n\n"),
        ("Old:\n```python\nb\n```\n<answer>\n```python\na = 1\n```\n</answer>", "a = 1\n"),
        ("```python\na = 1\n```\n<answer>see above</answer>", "a = 1\n"),
    ],
)
def test_an_answer_holds_the_program(response: str, code_text: str) -> None:
    assert code(response) is not None
    assert (code(response) or "").strip() == code_text.strip()


@table(
    ("response", "code_text"),
    [
        ("[PYTHON]\ndef f(x):\n    return x\n[/PYTHON]", "def f(x):\n    return x\n"),
        ("[BEGIN]\ndef f(x):\n    return x\n[DONE]", "def f(x):\n    return x\n"),
        ("def f(x):\n    return x\n[DONE]\n\nWrite g.\n[BEGIN]\ng = 1\n[DONE]", "def f(x):\n    return x\n"),
        ("So:\n<code>\ndef f(x):\n    return x\n</code>\nIt works.", "def f(x):\n    return x\n"),
        ("<answer>\ndef f(x):\n    return x\n</answer>\nDone.", "def f(x):\n    return x\n"),
        ('def f(x):\n    return "<code>1</code>"', 'def f(x):\n    return "<code>1</code>"\n'),
        ("def f(x):\n    return x\n\nBEGIN, DONE = [1], [2]", "def f(x):\n    return x\n\nBEGIN, DONE = [1], [2]\n"),
        ("I would use <code>f of x</code>.", None),
        ("> ```python\n> def f(x):\n>     return x\n> ```", "def f(x):\n    return x\n"),
        ("> old:\n> ```python\n> a\n> ```\n\n```python\ndef f(x):\n    return x\n```", "def f(x):\n    return x\n"),
        ("1. ```python\n   def f(x):\n       return x\n   ```", "def f(x):\n    return x\n"),
        ("- ```python\n  def f(x):\n      return x\n  ```\n- Done.", "def f(x):\n    return x\n"),
        ("The signs are:\n- ```\n", None),
    ],
)
def test_a_program_may_stand_between_marks_in_a_quotation_or_in_a_list(response: str, code_text: str | None) -> None:
    found = code_blocks.extract(response, "python", entry_point="f")
    assert (found.code or "").strip() == (code_text or "").strip()


def test_a_version_in_another_language_is_not_the_program_of_a_function_in_python() -> None:
    response = "```python\ndef f(x):\n    return x\n```\nIn JavaScript:\n```javascript\nfunction f(x) { return 1 }\n```"
    assert code_blocks.find(response, None, entry_point="f").language == "python"
    assert code_blocks.find(response, None, entry_point="g").language == "javascript"
    assert code_blocks.find(response, "javascript", entry_point="f").language == "javascript"
    assert code_blocks.find(response, None, languages={"javascript"}, entry_point="f").language == "javascript"


@table(
    ("info", "program"),
    [
        ("python import sys", "import sys\nprint(1)\n"),
        ("python def f(x): return x", "def f(x): return x\nprint(1)\n"),
        ("python x = 1", "x = 1\nprint(1)\n"),
        ("python print(0)", "print(0)\nprint(1)\n"),
        ("python title=main.py", "print(1)\n"),
        ("python main.py", "print(1)\n"),
        ('python {title="f(x)"}', "print(1)\n"),
        ("python showLineNumbers", "print(1)\n"),
    ],
)
def test_code_may_begin_on_the_line_of_the_fence(info: str, program: str) -> None:
    assert code(f"```{info}\nprint(1)\n```") == program


def test_an_untagged_block_is_taken_where_none_is_tagged() -> None:
    assert code("Here:\n```\na = 1\n```") == "a = 1\n"


@pytest.mark.parametrize(
    "response",
    [
        "~~~python\na = 1\n~~~",
        "````python\na = 1\n````",
        "``````\na = 1\n```````",
        "  ```python\n  a = 1\n  ```",
        "1. Step\n\n    ```python\n    a = 1\n    ```\n",
        "```python\r\na = 1\r\n```\r\n",
        "text ends\n```python   \na = 1\n```   \nmore",
    ],
)
def test_all_forms_of_fences_are_read(response: str) -> None:
    assert code(response) == "a = 1\n"


def test_a_fence_of_another_sign_or_shorter_closes_nothing() -> None:
    assert code("````python\n```\na = 1\n~~~\n````") == "```\na = 1\n~~~\n"


def test_a_fence_in_a_docstring_is_text() -> None:
    source = 'def f():\n    """\n    ```python\n    f()\n    ```\n    """\n    return 1\n'
    assert code(f"```python\n{source}```\n") == source


def test_a_block_inside_a_markdown_block_is_found() -> None:
    assert code("```markdown\n# Title\n```python\na = 1\n```\nThe end.\n```\n") == "a = 1\n"


def test_a_deep_fence_that_ends_the_text_closes_the_block() -> None:
    assert reason("```python\na = 1\n    ```\n    ") == "found"
    assert reason("```python\na = 1\n    ```\nb = 2\n") == "truncated"
    assert reason("```python\na = 1\n    ```python\n") == "truncated"


def test_an_unclosed_block_is_truncated_even_behind_a_closed_one() -> None:
    assert reason("```python\na = 1") == "truncated"
    assert reason("```python\na = 1\n```\nbetter:\n```python\na =") == "truncated"
    assert reason("```\na = 1") == "truncated"
    assert code("```python\na = 1\n```\n```") == "a = 1\n", "a stray fence at the end begins nothing"
    assert code("```python\na = 1\n```\n```text\n1") == "a = 1\n", "a cut-off output is not a cut-off program"


def test_a_block_that_was_forgotten_to_be_closed_gives_way_to_a_later_one() -> None:
    assert code("```python\na = 1\n\nWait, better:\n```python\na = 2\n```\n") == "a = 2\n"


def test_thinking_is_no_program() -> None:
    assert code("<think>```python\na = 1\n```</think>```python\na = 2\n```") == "a = 2\n"
    assert reason("<think>```python\na = 1\n```</think> Done.") == "no_code"
    assert reason("<think>```python\na = 1\n```") == "truncated"
    assert code("<think>\n```python\nhalf\n</think>\n```python\na = 2\n```") == "a = 2\n"


def test_what_stands_before_the_solution_marker_does_not_count() -> None:
    assert code("```python\na = 1\n```<|begin_of_solution|>\nb = 2\n<|end_of_solution|>") == "b = 2\n"


def test_without_a_fence_all_of_the_text_counts_if_it_parses() -> None:
    assert code("import sys\nprint(1)") == "import sys\nprint(1)\n"
    assert reason("The answer is 3.") == "no_code"
    assert reason("") == "no_code"
    assert reason("```python\n\n```") == "no_code"
    assert code("int main() {}", "cpp") == "int main() {}\n", "a compiler says what prose is"


def test_one_of_several_blocks_is_selected_as_asked() -> None:
    response = "```python\nimport os\n```\n```python\ndef f(): pass\nx = 1\ny = 2\n```\n```python\nprint(f())\n```"
    assert code(response, select="last") == "print(f())\n"
    assert code(response, select="first_def") == "def f(): pass\nx = 1\ny = 2\n"
    assert code(response, select="longest") == "def f(): pass\nx = 1\ny = 2\n"
    assert code("```python\na\n```\n```python\nb\n```", select="first_def") == "a\n"


PROMPT = 'from typing import List\n\n\ndef f(a: List[int]) -> int:\n    """Sum."""\n'


@pytest.mark.parametrize(
    "response",
    [
        "    return sum(a)\n",
        "\n    return sum(a)",
        "```python\n    return sum(a)\n```",
        "    return sum(a)<|im_end|>",
        "<think>Easy.</think>\n\n    return sum(a)\n",
    ],
)
def test_the_rest_of_a_function_is_completed_by_its_prompt(response: str) -> None:
    found = code_blocks.settle(code_blocks.find(response, "python"), PROMPT, "f")
    assert found.code is not None
    namespace: dict[str, object] = {}
    exec(found.code, namespace)
    function = namespace["f"]
    assert callable(function)
    assert function([1, 2]) == 3


def test_a_whole_function_is_not_completed() -> None:
    response = "```python\ndef f(a):\n    return 1\n```"
    found = code_blocks.find(response, "python")
    assert not code_blocks.needs_parsing(found, PROMPT, "f")
    assert code_blocks.settle(found, PROMPT, "f").code == "def f(a):\n    return 1\n"


def test_prose_is_not_completed_either() -> None:
    assert code_blocks.settle(code_blocks.find("I cannot do this.", "python"), PROMPT, "f").code is None


def test_a_worker_finds_the_same() -> None:
    payload = ["    return sum(a)", "python", "auto", "last", PROMPT, "f", None]
    found = code_blocks.settle(code_blocks.find("    return sum(a)", "python"), PROMPT, "f")
    assert Found(*code_blocks.find_in_worker(payload)) == found


def test_a_program_is_too_large_by_its_bytes() -> None:
    most = code_blocks.MAX_PROGRAM_BYTES
    for source, is_found in (("x" * (most - 1), True), ("é" * (most // 2), False), ("x" * most, False)):
        code, reason, *_ = code_blocks.find_in_worker([f"```cpp\n{source}\n```", "cpp", "auto", "last", "", "", None])
        assert (code is not None, reason) == (is_found, "found" if is_found else "too_large")


def test_long_text_without_a_fence_is_left_to_the_box() -> None:
    prose = "These are words. " * 20_000
    assert len(prose) > code_blocks.MAX_PARSED_CHARS
    assert code_blocks.find_in_worker([prose, "python", "auto", "last", "", "", None])[1] == "found"
    assert code_blocks.find_in_worker([prose[:1000], "python", "auto", "last", "", "", None])[1] == "no_code"


@given(st.text("`~\n pyabc#<>/think|\r\t{}.", max_size=200))
def test_any_text_has_a_program_or_a_reason(response: str) -> None:
    for language in ("python", "cpp", None):
        found = code_blocks.find(response, language)
        assert (found.code is not None) == (found.reason == "found")


@given(st.text("ab \n\t'\"#()", min_size=1, max_size=80).filter(str.strip))
def test_what_stands_in_a_fence_comes_out_unchanged(source: str) -> None:
    assert code(f"Some words.\n```python\n{source}\n```\nMore.") == f"{source}\n"


@pytest.mark.parametrize(
    "text",
    ["```\n" * 50_000, "```python\n" * 50_000, "~~~a\n```\n" * 50_000, " " * 500_000 + "```", "`" * 500_000],
    ids=["bare", "tagged", "mixed", "blanks", "one"],
)
def test_floods_of_fences_are_no_program(text: str) -> None:
    assert not code_blocks.find(text, "python").is_fenced


@given(
    st.lists(
        st.sampled_from(
            ["```", "~~~", "````", "`", "cpp", " x", "  ", "\t", " " * 41, "\n", "\r\n", "x" * 201, "\u2028"]
        )
    ).map("".join)
)
def test_the_lines_asked_are_all_that_may_be_fences(text: str) -> None:
    everywhere = [match.span() for match in code_blocks._FENCE.finditer(text)]
    assert [match.span() for match in code_blocks._fences(text)] == everywhere
