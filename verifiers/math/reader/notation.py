"""Tables of LaTeX commands: relations, operations on sets, symbols, operators, accents, currencies."""

from verifiers.commitment.latex import split
from verifiers.math.tokens import Token

RELATIONS = {
    "=": "=", "<": "<", ">": ">", "le": "<=", "leq": "<=", "leqslant": "<=", "ge": ">=", "geq": ">=", "geqslant": ">=",
    "lt": "<", "gt": ">", "ne": "!=", "neq": "!=", "in": "in", "approx": "approx", "equiv": "cong", "simeq": "approx",
    "cong": "cong", "sim": "sim", "to": "to", "rightarrow": "to", "mapsto": "to", "subset": "subset",
    "subseteq": "subseteq", "perp": "perp", "parallel": "parallel", "mid": "divides", "iff": "iff", "implies": "implies",
    "propto": "propto", "ll": "ll", "gg": "gg", "notin": "notin", "Rightarrow": "implies", "supseteq": "supseteq",
    "supset": "supset", "hookrightarrow": "to", "longrightarrow": "to", "coloneqq": "=",
    "Longrightarrow": "implies", "Leftrightarrow": "iff", "Longleftrightarrow": "iff",
}  # fmt: skip
"""The meaning of each sign and command of a relation."""
SET_OPERATIONS = {
    "cup": "union", "bigcup": "union", "cap": "cap", "bigcap": "cap", "setminus": "setminus", "backslash": "setminus",
}  # fmt: skip
"""Commands between sets."""
SYMBOLS = split(
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi omicron rho varrho "
    "sigma varsigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega "
    "ell hbar aleph beth partial nabla emptyset varnothing ldots dots cdots vdots ddots star ast circ bullet top bot "
    "prime checkmark hslash wp dagger triangle square Box diamond"
)
"""Commands that are names."""
SYMBOL_SYNONYMS = {
    "varphi": "phi", "varepsilon": "epsilon", "vartheta": "theta", "varrho": "rho", "varnothing": "emptyset",
    "dots": "ldots", "cdots": "ldots", "mathellipsis": "ldots",
}  # fmt: skip
"""Commands with the same meaning as another."""
OPERATORS = split(
    "ker dim deg det hom Hom rank tr Tr span Var Cov Pr im sup inf limsup liminf angle measuredangle triangle div grad curl neg lnot"
)
"""Commands that are known by their notation only."""
ACCENTS = split(
    "overline bar hat vec tilde widehat widetilde dot ddot overrightarrow underline mathring overleftrightarrow"
)
"""Commands of accents above or below their argument."""
PRODUCTS = split("oplus otimes circ ltimes rtimes odot wr bullet")
"""Products that are not of numbers."""
BIG = split("sum prod int iint iiint oint lim")
"""Commands that take everything behind them as their argument."""
CURRENCIES = {"dollar": "$", "textdollar": "$", "euro": "euro", "pounds": "pound sterling", "yen": "¥"}
"""Commands of currencies, with their units."""
LETTERS_LIKE = SYMBOLS - split("emptyset varnothing ldots dots cdots")
"""Commands that stand for letters."""


def is_relation(token: Token) -> bool:
    """Whether a token is the sign of a relation."""
    return token.kind in ("=", "<", ">", "cmd") and token.value in RELATIONS
