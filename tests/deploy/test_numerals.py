"""How spellings of numbers become the tables that the verifiers read."""

from deploy.numerals import key, tables_of

ONES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def spelled(number: int) -> str:
    """The spelling in a language that says the digits below a hundred: "minus two hundred four two"."""
    if number < 0:
        return "minus " + spelled(-number)
    for size, word in ((1000, "thousand"), (100, "hundred")):
        if number >= size:
            return f"{spelled(number // size)} {word} {spelled(number % size) if number % size else ''}"
    return " ".join(ONES[int(digit)] for digit in str(number))


def test_each_number_is_a_whole_word_or_a_head_and_a_smaller_number() -> None:
    tables = tables_of([[key(spelled(number)) for number in range(-1, 10_000)]])
    assert tables["signs"] == {"minus": -1}
    assert tables["whole"]["fourtwo"] == 42
    assert tables["heads"]["twohundred"] == 200  # twohundred|fourtwo
    assert "twohundredfourtwo" not in tables["whole"]
