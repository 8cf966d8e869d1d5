"""The currency of a number, given by sign or by name."""

import re

SIGNS = "$€£¥₹₩₽¢₺₫₴₱₪฿"
_NAMES = {
    **dict.fromkeys(["usd", "dollar", "dollars", "美元"], "$"),
    **dict.fromkeys(["eur", "euro", "euros", "欧元"], "€"),
    **dict.fromkeys(["gbp", "英镑"], "£"),
    **dict.fromkeys(["inr", "rupee", "rupees"], "₹"),
    **dict.fromkeys(["jpy", "yen", "円", "日元"], "¥J"),
    **dict.fromkeys(["cny", "rmb", "yuan", "元", "人民币"], "¥C"),
    **dict.fromkeys(["krw", "won", "원"], "₩"),
    **dict.fromkeys(["rub", "ruble", "rubles"], "₽"),
    **dict.fromkeys(["cent", "cents"], "¢"),
}
_NAME = "|".join(sorted(_NAMES, key=len, reverse=True))
_CURRENCY_BEHIND = re.compile(
    rf"(?:\s?(?:hundred|thousand|million|billion|trillion|bn|mn|[kmb]|[千万亿]))?\s?({_NAME}|[{SIGNS}])"
    r"(?![A-Za-z])",
    re.IGNORECASE,
)
_NAME_BEHIND = re.compile(rf"\s?(?:{_NAME})(?![A-Za-z])", re.IGNORECASE)
_CURRENCY_BEFORE = re.compile(rf"(?<![A-Za-z])({_NAME})\s?$", re.IGNORECASE)


def currency_beside(sign: str, head: str, tail: str) -> tuple[str, str]:
    """The sign of the currency of a number, and the rest of the text behind the number."""
    suffix = _CURRENCY_BEHIND.match(tail)
    if suffix and suffix[1] in SIGNS:
        tail = tail[: suffix.start(1)] + tail[suffix.end(1) :]
    if sign or not (name := suffix or _CURRENCY_BEFORE.search(head)):
        return sign, tail
    return _NAMES.get(name[1].lower(), name[1]), tail


def currency_end(tail: str) -> int:
    """The end of the currency name at the beginning of a text."""
    name = _NAME_BEHIND.match(tail)
    return name.end() if name else 0


def same_currency(first: str, second: str) -> bool:
    """Whether two signs may mean the same currency. `¥` alone may be yen or yuan."""
    return first == second or (first[0] == second[0] == "¥" and "¥" in (first, second))
