"""Numbers from zero to twenty in words of German, Spanish, French, Italian, Portuguese and Russian, with a sign.

A word that is an English one or a name, too (`once`, `elf`, `quince`), is a number only behind a sign.
"""

from fractions import Fraction

_COUNTED = (
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn "
    "achtzehn neunzehn zwanzig",
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete "
    "dieciocho diecinueve veinte",
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit "
    "dix-neuf vingt",
    "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici "
    "diciassette diciotto diciannove venti",
    "zero um dois três quatro cinco seis sete oito nove dez onze doze treze quatorze quinze dezesseis dezessete dezoito "
    "dezenove vinte",
    "ноль один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать тринадцать четырнадцать "
    "пятнадцать шестнадцать семнадцать восемнадцать девятнадцать двадцать",
)  # fmt: skip
_ENGLISH = frozenset(
    ["null", "elf", "uno", "dos", "once", "quince", "un", "six", "sept", "seize", "due", "sei", "otto", "um", "dez"]
)
_SIGNS = frozenset(["minus", "menos", "moins", "meno", "минус"])
_VALUES = {word: number for words in _COUNTED for number, word in enumerate(words.split())}


def european(spelled: str) -> Fraction | None:
    """The number that a whole text spells; None if it spells none."""
    sign, _, counted = spelled.lower().rpartition(" ")
    value = _VALUES.get(counted)
    if value is None or (sign not in _SIGNS if sign else counted in _ENGLISH):
        return None
    return Fraction(-value if sign else value)
