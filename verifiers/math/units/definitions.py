"""The definitions of units: the exact size of each in base units, and the words with several senses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from verifiers.commitment.latex import split


@dataclass(frozen=True, slots=True)
class Scale:
    """The size of a unit: `rational` * pi ** `pi` base units of `dimension`."""

    rational: Fraction
    pi: int
    dimension: Mapping[str, int]


PREFIXES = {
    "G": ("giga", 9), "M": ("mega", 6), "k": ("kilo", 3), "h": ("hecto", 2), "d": ("deci", -1), "c": ("centi", -2),
    "m": ("milli", -3), "μ": ("micro", -6), "n": ("nano", -9), "p": ("pico", -12), "f": ("femto", -15),
    "T": ("tera", 12), "P": ("peta", 15), "E": ("exa", 18), "Z": ("zetta", 21), "Y": ("yotta", 24), "a": ("atto", -18),
    "z": ("zepto", -21), "y": ("yocto", -24),
}  # fmt: skip
"""The names of prefixes, and their powers of ten."""
_POUND_KG = Fraction("0.45359237")
_INCH_M = Fraction("0.0254")
_GALLON_M3 = 231 * _INCH_M**3
_STANDARD_GRAVITY = Fraction("9.80665")
_POUND_FORCE_N = _POUND_KG * _STANDARD_GRAVITY
_MASS_FORCE = {"kg": 1, "m": 1, "s": -2}
_ENERGY = {"kg": 1, "m": 2, "s": -2}
_POWER = {"kg": 1, "m": 2, "s": -3}
_PRESSURE = {"kg": 1, "m": -1, "s": -2}
_VOLTAGE = {"kg": 1, "m": 2, "s": -3, "A": -1}

# symbol, one of it in base units, their exponents, names, prefixes in use
PREFIXED: Sequence[tuple[str, Fraction, Mapping[str, int], str, str]] = (
    ("m", Fraction(1), {"m": 1}, "meter metre", "TGMkhdcmμnpf"),
    ("g", Fraction(1, 1000), {"kg": 1}, "gram gramme", "TGMkhdcmμnpf"),
    ("s", Fraction(1), {"s": 1}, "second", "mμnpfz"),
    ("A", Fraction(1), {"A": 1}, "ampere amp", "MkmμnpfaG"),
    ("K", Fraction(1), {"K": 1}, "kelvin", "MGkmμn"),
    ("mol", Fraction(1), {"mol": 1}, "mole", "kmμnp"),
    ("M", Fraction(1000), {"mol": 1, "m": -3}, "molar", "mμnp"),
    ("cd", Fraction(1), {"cd": 1}, "candela", "m"),
    ("Hz", Fraction(1), {"s": -1}, "hertz", "YZEPTGMkmμ"),
    ("N", Fraction(1), _MASS_FORCE, "newton", "TGMkmμnpf"),
    ("Pa", Fraction(1), _PRESSURE, "pascal", "PTGMkhmμ"),
    ("J", Fraction(1), _ENERGY, "joule", "YZEPTGMkmμnpfaz"),
    ("W", Fraction(1), _POWER, "watt", "YZEPTGMkmμnpf"),
    ("C", Fraction(1), {"A": 1, "s": 1}, "coulomb", "Mkmμnpfa"),
    ("V", Fraction(1), _VOLTAGE, "volt", "TMkmμGnp"),
    ("F", Fraction(1), {"A": 2, "s": 4, "kg": -1, "m": -2}, "farad", "mμnpfa"),
    ("Ω", Fraction(1), {"kg": 1, "m": 2, "s": -3, "A": -2}, "ohm", "TGMkmμn"),
    ("S", Fraction(1), {"A": 2, "s": 3, "kg": -1, "m": -2}, "siemens", "Mkmμnp"),
    ("Wb", Fraction(1), {"kg": 1, "m": 2, "s": -2, "A": -1}, "weber", "mμ"),
    ("T", Fraction(1), {"kg": 1, "s": -2, "A": -1}, "tesla", "kmμnpf"),
    ("H", Fraction(1), {"kg": 1, "m": 2, "s": -2, "A": -2}, "henry", "mμnp"),
    ("lm", Fraction(1), {"cd": 1, "sr": 1}, "lumen", ""),
    ("lx", Fraction(1), {"cd": 1, "sr": 1, "m": -2}, "lux", ""),
    ("Bq", Fraction(1), {"s": -1}, "becquerel", "PTGMkm"),
    ("Gy", Fraction(1), {"m": 2, "s": -2}, "gray", "m"),
    ("Sv", Fraction(1), {"m": 2, "s": -2}, "sievert", "mμ"),
    ("kat", Fraction(1), {"mol": 1, "s": -1}, "katal", ""),
    ("L", Fraction(1, 1000), {"m": 3}, "liter litre", "Mkhdcmμnp"),
    ("eV", Fraction("1.602176634e-19"), _ENERGY, "electronvolt", "EPTGMkmμ"),
    ("bar", Fraction(100_000), _PRESSURE, "bar", "kmμ"),
    ("cal", Fraction("4.184"), _ENERGY, "calorie", "kM"),
    ("Wh", Fraction(3600), _ENERGY, "watthour", "TGMkm"),
    ("rad", Fraction(1), {"rad": 1}, "radian", "m"),
    ("sr", Fraction(1), {"sr": 1}, "steradian", ""),
    ("erg", Fraction(1, 10**7), _ENERGY, "erg", ""),
    ("dyn", Fraction(1, 10**5), _MASS_FORCE, "dyne", ""),
    ("gauss", Fraction(1, 10**4), {"kg": 1, "s": -2, "A": -1}, "gauss", "k"),
    ("Ci", Fraction(37 * 10**9), {"s": -1}, "curie", "mμ"),
    ("rem", Fraction(1, 100), {"m": 2, "s": -2}, "rem", "m"),
    ("Jy", Fraction(1, 10**26), {"kg": 1, "s": -2}, "jansky", "mμ"),
    ("Da", Fraction(1), {"Da": 1}, "dalton", "kM"),
    ("bit", Fraction(1), {"bit": 1}, "bit", "kMGT"),
)  # fmt: skip
"""Units that take prefixes."""
_LENGTH: Mapping[str, int] = {"m": 1}
_AREA: Mapping[str, int] = {"m": 2}
_VOLUME: Mapping[str, int] = {"m": 3}
_MASS: Mapping[str, int] = {"kg": 1}
_TIME: Mapping[str, int] = {"s": 1}
# key, one of it in base units, their exponents, further spellings between commas
UNPREFIXED: Sequence[tuple[str, Fraction, Mapping[str, int], str]] = (
    ("in", _INCH_M, _LENGTH, "inch, inches, ins, 英寸"),
    ("ft", 12 * _INCH_M, _LENGTH, "foot, feet, fts, 英尺"),
    ("yd", 36 * _INCH_M, _LENGTH, "yard, yards, yds, 码"),
    ("mi", 63360 * _INCH_M, _LENGTH, "mile, miles, mis, 英里"),
    ("nmi", Fraction(1852), _LENGTH, "nautical mile, nautical miles, 海里"),
    ("light year", Fraction(9_460_730_472_580_800), _LENGTH, "light years, lightyear, lightyears, ly, 光年"),
    ("au", Fraction(149_597_870_700), _LENGTH, "astronomical unit, astronomical units"),
    ("Å", Fraction(1, 10**10), _LENGTH, "angstrom, angstroms, ångström, ångströms"),
    ("furlong", 220 * 36 * _INCH_M, _LENGTH, "furlongs"),
    ("fathom", 72 * _INCH_M, _LENGTH, "fathoms"),
    ("picometer", Fraction(1, 10**12), _LENGTH, "picometers, picometre, picometres"),
    ("里", Fraction(500), _LENGTH, "华里"),
    ("acre", 4840 * (36 * _INCH_M) ** 2, _AREA, "acres, 英亩"),
    ("ha", Fraction(10_000), _AREA, "hectare, hectares, 公顷"),
    ("亩", Fraction(2000, 3), _AREA, "市亩"),
    ("gal", _GALLON_M3, _VOLUME, "gals, gallon, gallons, 加仑"),
    ("qt", _GALLON_M3 / 4, _VOLUME, "qts, quart, quarts"),
    ("pt", _GALLON_M3 / 8, _VOLUME, "pint, pints"),
    ("cup", _GALLON_M3 / 16, _VOLUME, "cups"),
    ("fl oz", _GALLON_M3 / 128, _VOLUME, "fluid ounce, fluid ounces, floz"),
    ("tbsp", _GALLON_M3 / 256, _VOLUME, "tablespoon, tablespoons, tbsps"),
    ("tsp", _GALLON_M3 / 768, _VOLUME, "teaspoon, teaspoons, tsps"),
    ("ksi", 1000 * _POUND_FORCE_N / _INCH_M**2, _PRESSURE, ""),
    ("lb", _POUND_KG, _MASS, "lbs, pound, pounds, 磅"),
    ("oz", _POUND_KG / 16, _MASS, "ozs, ounce, ounces, 盎司"),
    ("ton", 2000 * _POUND_KG, _MASS, "tons, short ton, short tons"),
    ("t", Fraction(1000), _MASS, "tonne, tonnes, metric ton, metric tons, 吨, 公吨"),
    ("carat", Fraction(1, 5000), _MASS, "carats, 克拉"),
    ("amu", Fraction(1), {"Da": 1}, "atomic mass unit, atomic mass units"),
    ("斤", Fraction(1, 2), _MASS, "市斤"),
    ("min", Fraction(60), _TIME, "mins, minute, minutes, 分钟, 分鐘"),
    ("h", Fraction(3600), _TIME, "hr, hrs, hour, hours, 小时, 小時, 时, 時, 时间, 個小時, 个小时, 時間"),
    ("day", Fraction(86_400), _TIME, "d, days, 天, 日"),
    ("week", Fraction(7 * 86_400), _TIME, "wk, wks, weeks, 周, 週, 星期, 个星期"),
    ("fortnight", Fraction(14 * 86_400), _TIME, "fortnights"),
    ("month", Fraction(1), {"month": 1}, "months, mo, mos, 月, 个月"),
    ("year", Fraction(12), {"month": 1}, "years, yr, yrs, 年, 岁"),
    ("decade", Fraction(120), {"month": 1}, "decades"),
    ("century", Fraction(1200), {"month": 1}, "centuries, 世纪"),
    ("kyr", Fraction(12 * 10**3), {"month": 1}, "kiloyear, kiloyears"),
    ("Myr", Fraction(12 * 10**6), {"month": 1}, "megayear, megayears"),
    ("Gyr", Fraction(12 * 10**9), {"month": 1}, "gigayear, gigayears"),
    ("°C", Fraction(1), {"K": 1}, "degree celsius, degrees celsius, celsius, degrees c, degree c, deg c, 摄氏度"),
    (
        "°F", Fraction(5, 9), {"K": 1},
        "degree fahrenheit, degrees fahrenheit, fahrenheit, degrees f, degree f, deg f, 华氏度",
    ),
    ("atm", Fraction(101_325), _PRESSURE, "atmosphere, atmospheres, 大气压"),
    ("mmHg", Fraction(101_325, 760), _PRESSURE, "mm hg, millimeters of mercury, мм рт ст"),
    ("torr", Fraction(101_325, 760), _PRESSURE, "torrs"),
    ("BTU", Fraction("1055.05585262"), _ENERGY, "btus, british thermal unit, british thermal units"),
    ("diopter", Fraction(1), {"m": -1}, "diopters, dioptre, dioptres"),
    ("dB", Fraction(1), {"dB": 1}, "decibel, decibels, 分贝"),
    ("ppm", Fraction(1, 10**6), {}, ""),
    ("ppb", Fraction(1, 10**9), {}, ""),
    ("M☉", Fraction(1), {"M☉": 1}, "solar mass, solar masses"),
    ("L☉", Fraction(1), {"L☉": 1}, "solar luminosity, solar luminosities"),
    ("R☉", Fraction(1), {"R☉": 1}, "solar radius, solar radii"),
    ("lbf", _POUND_FORCE_N, _MASS_FORCE, "pound force, pounds force"),
    ("psi", _POUND_FORCE_N / _INCH_M**2, _PRESSURE, ""),
    ("hp", 550 * 12 * _INCH_M * _POUND_FORCE_N, _POWER, "horsepower"),
    ("B", Fraction(8), {"bit": 1}, "byte, bytes, 字节"),
    ("KiB", Fraction(8 * 1024), {"bit": 1}, "kibibyte, kibibytes"),
    ("MiB", Fraction(8 * 1024**2), {"bit": 1}, "mebibyte, mebibytes"),
    ("GiB", Fraction(8 * 1024**3), {"bit": 1}, "gibibyte, gibibytes"),
    ("TiB", Fraction(8 * 1024**4), {"bit": 1}, "tebibyte, tebibytes"),
    ("kB", Fraction(1), {"kB": 1}, "kilobyte, kilobytes"),
    ("MB", Fraction(1), {"MB": 1}, "megabyte, megabytes"),
    ("GB", Fraction(1), {"GB": 1}, "gigabyte, gigabytes"),
    ("TB", Fraction(1), {"TB": 1}, "terabyte, terabytes"),
    ("$", Fraction(1), {"USD": 1}, "dollar, dollars, usd, us dollar, us dollars, bucks, buck, 美元"),
    ("US cent", Fraction(1, 100), {"USD": 1}, "us cents"),
    ("yuan", Fraction(1), {"CNY": 1}, "元, 块钱, 元钱, 人民币, rmb, cny, renminbi"),
    ("jiao", Fraction(1, 10), {"CNY": 1}, "角, 毛钱"),
    ("fen", Fraction(1, 100), {"CNY": 1}, "分钱"),
    ("euro", Fraction(1), {"EUR": 1}, "euros, eur, 欧元"),
    ("euro cent", Fraction(1, 100), {"EUR": 1}, "euro cents"),
    ("pound sterling", Fraction(1), {"GBP": 1}, "pounds sterling, gbp, 英镑"),
    ("GB penny", Fraction(1, 100), {"GBP": 1}, "pence"),
    ("yen", Fraction(1), {"JPY": 1}, "jpy, 日元, 円"),
    ("rupee", Fraction(1), {"INR": 1}, "rupees, rs, inr, 卢比"),
    ("paisa", Fraction(1, 100), {"INR": 1}, "paise"),
    ("ruble", Fraction(1), {"RUB": 1}, "rubles, rouble, roubles, rub, руб, рубль, рубля, рублей, рубли"),
    ("kopeck", Fraction(1, 100), {"RUB": 1}, "kopecks, kopek, kopeks, копейка, копейки, копеек, коп"),
    ("won", Fraction(1), {"KRW": 1}, "krw, 원"),
    ("Swiss franc", Fraction(1), {"CHF": 1}, "swiss francs, chf, franken, schweizer franken"),
    ("real", Fraction(1), {"BRL": 1}, "reais, brl, brazilian real, brazilian reais"),
    ("zloty", Fraction(1), {"PLN": 1}, "zlotys, pln, zł, złoty, złote, złotych"),
    ("lira", Fraction(1), {"TRY": 1}, "liras, turkish lira, turkish liras, tl"),
    ("hryvnia", Fraction(1), {"UAH": 1}, "hryvnias, uah, грн, гривня, гривні, гривень"),
    ("koruna", Fraction(1), {"CZK": 1}, "czk, kč, korun, koruny"),
    ("forint", Fraction(1), {"HUF": 1}, "forints, huf"),
    ("dong", Fraction(1), {"VND": 1}, "vnd, đồng"),
    ("rupiah", Fraction(1), {"IDR": 1}, "idr"),
    ("baht", Fraction(1), {"THB": 1}, "thb, บาท"),
    ("shekel", Fraction(1), {"ILS": 1}, "shekels, ils, nis, שקל, שקלים"),
    ("naira", Fraction(1), {"NGN": 1}, "ngn"),
)  # fmt: skip
"""Units that take no prefixes."""
_PARSEC_M = 648_000 * Fraction(149_597_870_700)
"""The parsec over pi: at this distance an astronomical unit is seen under an angle of one second."""
# key, one of it, the power of pi in it, spellings
ANGLES: Sequence[tuple[str, Fraction, int, str]] = (
    ("degree", Fraction(1, 180), 1, "degrees, deg, degs, 度"),
    ("arcmin", Fraction(1, 180 * 60), 1, "arcminute, arcminutes, minutes of arc, 角分"),
    ("arcsec", Fraction(1, 180 * 3600), 1, "arcsecond, arcseconds, seconds of arc, 角秒"),
    ("revolution", Fraction(2), 1, "revolutions, rev, revs, 转"),
)
"""Units of angle."""
PARSECS = {"": 0, "k": 3, "M": 6, "G": 9}
"""The prefixes of a parsec, and their powers of ten."""
SENSES: Mapping[str, Sequence[str]] = {
    "cent": ("US cent", "euro cent"), "penny": ("GB penny", "US cent"), "分": ("fen", "min", "arcmin"),
    "degree": ("degree", "°C", "°F"), "¥": ("yuan", "yen"), "'": ("ft", "arcmin"), "''": ("in", "arcsec"),
}  # fmt: skip
"""The possible meanings of words with several senses."""
ZEROS = {"°C": Fraction("273.15"), "°F": Fraction("459.67") * Fraction(5, 9)}
"""The zero of each scale in kelvin."""
CLOCK_SIGNS = split("a.m. p.m.")
"""Halves of the day, which stand behind a time and are not units."""


def _atom_table() -> dict[str, Scale]:
    table = {atom: Scale(rational, 0, exponents) for atom, rational, exponents, _ in UNPREFIXED}
    table |= {atom: Scale(rational, pi, {"rad": 1}) for atom, rational, pi, _ in ANGLES}
    table |= {word: table[senses[0]] for word, senses in SENSES.items() if senses[0] in table}
    table |= {f"{prefix}pc": Scale(_PARSEC_M * 10**power, -1, _LENGTH) for prefix, power in PARSECS.items()}
    for symbol, rational, exponents, _, prefixes in PREFIXED:
        table[symbol] = Scale(rational, 0, exponents)
        for prefix in prefixes:
            table[prefix + symbol] = Scale(rational * Fraction(10) ** PREFIXES[prefix][1], 0, exponents)
    return table


ATOMS = _atom_table()
"""The size of each unit, with every prefix in use."""
