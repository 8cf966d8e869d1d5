"""Decides which words may stand behind a number as counting nouns, and which may not."""

import re
from collections.abc import Sequence

from verifiers.commitment.latex import split
from verifiers.numerals.scales import LOCAL, SCALES

_MAX_WORDS = 4


def noun(words: Sequence[str], *, is_certain: bool = False) -> str | None:
    """The counting noun of a phrase, with a listed head in the singular; None if it is not a plain noun phrase.

    `is_certain`: only a noun can stand here, as after "per", so that it may be an unlisted one in the singular.
    """
    if len(words) == 1 and (chinese := chinese_noun(words[0])) is not None:
        return next(iter(chinese))
    words = _without_extent([word.casefold() for word in words])
    if words == ["times"]:  # before another word it is an operator
        return "time"
    if len(words) > 2 and words[1] == "to" and words[0] in ("way", "ways", "method", "methods"):
        return "way" if is_plain([word for word in words[2:] if word != "the"]) else None
    tail: list[str] = []
    if "of" in words:
        words, tail = words[: words.index("of")], words[words.index("of") :]
        if not is_plain(tail[1:]):
            return None
    head = words[-1] if words else ""
    singular = _SINGULARS.get(head)
    listed_plural = singular is not None and (singular != head or head in _SAME_IN_PLURAL or _is_plural(head))
    if not is_plain([word for word in words if not (listed_plural and word in _DESCRIBING)]):
        return None
    if len(words) + len(tail) > _MAX_WORDS + 1:
        return None
    if singular is None and not (is_certain or _is_plural(head)):
        return None
    modifiers = [word for word in words[:-1] if word not in _COUNTED_BY]
    if singular is None or not _DESCRIBING.isdisjoint(modifiers):
        singular = head
    return " ".join([*modifiers, singular, *tail])


def _without_extent(words: list[str]) -> list[str]:
    """Remove words about the counting, not the number: `5 apples left`, `5 apples in total`."""
    if len(words) > 2 and words[-2:] in (["in", "total"], ["in", "all"]):
        return words[:-2]
    return words[:-1] if len(words) > 1 and words[-1] in ("left", "remaining", "altogether", "total") else words


def is_plain(words: Sequence[str]) -> bool:
    """Whether a phrase has one to four words, none of them a number, relation, judgement, verb or adverb."""
    if not 1 <= len(words) <= _MAX_WORDS:
        return False
    return all(_is_ordinary(part) or ("-" in word and len(part) == 1) for word in words for part in word.split("-"))


def _is_ordinary(word: str) -> bool:
    word = word.casefold()
    if word in _SINGULARS:
        return True
    if word in SCALES or word in LOCAL:
        return False
    if len(word) < 2 or not re.fullmatch(r"[a-zß-öø-ɏ]+", word):
        return False
    return word not in _NOT_NOUNS and not word.endswith(_NOT_NOUN_ENDINGS)


def _is_plural(word: str) -> bool:
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "'s"))


def is_noun(word: str) -> bool:
    """Whether a word is one of the listed nouns: `pies` are not Spanish feet."""
    return word in _SINGULARS


def chinese_noun(word: str) -> dict[str, int] | None:
    """A measure word, alone or before what is counted: `个`, `名学生`, `道题`; the key is the measure word."""
    if word in _CHINESE_NOUNS:
        return {_CHINESE_NOUNS[word]: 1}
    if word[:1] in _MEASURE_WORDS and len(word) <= 7 and _NOT_CHINESE_NOUN.isdisjoint(word[1:]):
        return {_CHINESE_NOUNS.get(word[0], word[0]): 1}
    return None


_SAME_IN_PLURAL = split("fish sheep deer series species dice")
_NOUNS = split(
    """
    apple orange banana pear peach cherry grape lemon melon berry fruit vegetable potato tomato carrot onion egg
    cookie cake pie pizza slice piece bagel muffin donut doughnut cupcake sandwich burger candy chocolate loaf bread
    sweet nut seed bean flower rose tulip daisy plant tree leaf branch bush person man woman child boy girl baby adult
    student pupil teacher friend player team member worker employee customer passenger guest visitor voter runner driver
    soldier doctor nurse parent brother sister son daughter sibling cousin family kid couple group class club school
    animal dog cat cow horse pig goat chicken duck bird rabbit mouse rat elephant lion tiger bear monkey frog ant bee
    spider snake turtle puppy kitten lamb wolf fox toy doll ball balloon kite game puzzle card deck coin dime nickel
    stamp sticker marble bead block brick tile button bottle can box bag basket bucket jar carton crate packet pack
    package bowl plate spoon fork knife glass mug jug barrel tank pencil pen crayon marker eraser book notebook magazine
    newspaper page chapter word letter sentence line row column paper sheet card picture photo photograph painting
    drawing poster song movie film ticket seat chair table desk bed room house home building floor apartment store shop
    shirt t-shirt dress skirt shoe sock hat cap coat jacket glove sweater jean pair car bus truck bike bicycle train
    plane boat ship wheel road street bridge trip lap step stair shot goal point win game match round
    question problem answer test exam quiz lesson mistake error score mark grade vote way method choice option
    arrangement combination permutation outcome possibility case solution root value number integer digit prime set
    subset element pair triple quadruple tuple sequence term vertex edge face side corner angle triangle square
    rectangle circle polygon pentagon hexagon octagon quadrilateral parallelogram trapezoid rhombus cube sphere cone
    cylinder prism pyramid diagonal segment ray path route graph node region cell dot chord arc point
    intersection asymptote function permutation matrix color colour shape pattern token chip ring bell
    bracelet necklace ribbon rope string shelf drawer key lock phone computer robot machine battery lamp light bulb
    window door fence post pole nail screw bolt toothpick stick match straw item object thing product part
    copy sample trial toss roll flip turn move handshake meeting appointment job task order call message
    email gift present prize medal badge trophy sale container pot pan tray stone rock shell star planet moon galaxy
    photon electron proton neutron atom molecule ion particle cycle oscillation vibration wave beat breath heartbeat
    patient customer citizen resident household farm farmer field garden village town city county state country
    serving portion dose pill tablet drop worm fish sheep deer series species dice die
    """
)
_IRREGULAR = {
    "point": "points pts",
    "person": "people persons", "man": "men", "woman": "women", "child": "children", "mouse": "mice", "vertex":
    "vertices vertexes", "matrix": "matrices", "leaf": "leaves", "loaf": "loaves", "knife": "knives", "wolf": "wolves",
    "shelf": "shelves", "die": "dice", "dice": "dice", "quiz": "quizzes", "fish": "fish fishes",
    "sheep": "sheep", "deer": "deer", "series": "series", "species": "species", "potato": "potatoes",
    "tomato": "tomatoes", "bus": "buses", "rhombus": "rhombuses rhombi",
}  # fmt: skip
_NEVER_SINGULAR = split("sweet prime square light present win roll match post order call set turn move part root cube")
"""Listed nouns that are also adjectives, verbs or operations: only their plural is a counting noun."""
_COUNTED_BY = split("different distinct possible")
_DESCRIBING = split("positive negative even odd right equal real total infinite correct incorrect wrong")
"""Words that change a number; between a number and a listed plural noun, they tell which ones are counted."""
_NOT_NOUNS = split(
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety zeros zeroes ones twos threes fours fives
    sixes sevens eights nines tens twenties hundred hundreds thousand thousands dozen dozens gross score half halves
    halfs third thirds quarter quarters fourth fourths fifth fifths sixth sixths seventh sevenths eighth eighths ninth
    ninths tenth tenths hundredth hundredths thousandth thousandths millionth millionths lakh lakhs crore crores first
    once twice thrice double doubles triple quadruple doubled tripled halved squared cubed power powers factorial
    factorials pi tau phi exponential sqrt percent percents pct percentage percentages permille
    negative negatives positive positives opposite opposites inverse inverses reciprocal reciprocals minus plus times
    multiplied divided over mod modulo remainder remainders residue residues multiple multiples factor factors divisor
    divisors quotient complement complements conjugate conjugates infinity infinite infinities imaginary

    not no nor never none neither non without except excluding but unless although though however instead isn aren
    wasn doesn don didn cannot cant wont ain nothing null void false fake true right wrong wrongs incorrect correct
    invalid valid rejected reject rejects extraneous spurious impossible undefined bogus bad good error errors mistake
    mistakes failed fail fails maybe perhaps probably approximate approx approximately about around almost nearly
    roughly circa exactly only just even odd actually really guess guesses unsure unknown unclear ish

    or and more less fewer least most greater larger bigger smaller lower higher above below under beneath
    beyond within between inside outside beside besides near up down upto at to from in on into onto off out by of for
    with per as than then that this these those it its he she they we you us i me my your our their his her hers ours
    yours theirs max maximum maxima minimum minima limit limits bound bounds upper lower ceiling tops minimums
    maximums inclusive exclusive included excluded extra extras

    if when whenever where wherever while because since so thus hence therefore otherwise else given assuming provided
    such suppose let iff implies imply any all each every both either some many several few much other others another
    else a an the whose which who what why how equal equals equaling unequal differs exceed exceeds exceeding
    is are was were be been being am has have had having do does did done can could will would shall should may might
    must get gets got gives give gave becomes become makes make made means mean remains remain leaves works work holds
    hold exists exist occurs occur happens happen satisfies satisfy contradicts contradict divides divide adds add
    subtracts subtract subtracted added removes remove removed increases increase increased decreases decrease decreased
    loses lost rises falls goes comes starts ends stops begins lies sits needs wants says seems appears looks shows
    proves yields yield belongs depends varies matters counts applies fits suffices converges diverges vanishes cancels
    disagrees agrees checks check

    here there now later earlier ago before after again back forward forwards backward backwards upward upwards downward
    downwards towards toward afterwards sometimes always nevertheless nonetheless regardless across apart away together
    too very also still yet already yes ok okay left remaining altogether total sum difference product ratio average
    mean median mode answer answers result results wait hmm sorry oops correction corrections final

    mas más menos moins plus fois veces vezes jamais jamás después apres après sauf nichts falls mindestens höchstens
    weniger mehr nicht kein keine pas non nem nunca sans sin ou und oder et como mal

    debt debts loss losses deficit deficits shortage shortages anti pseudo basis ciento cientos hunderte centaine centaines
    dizaine dizaines decenas centenas milhares medios medias tercios cuartos quintos mitades demis quarts tiers
    cinquièmes dixièmes centièmes décimos decimos centésimos de des du del
    """
)
_NOT_NOUN_ENDINGS = (
    "illion",
    "illions",
    "illionth",
    "illionths",
    "teenth",
    "tieth",
    "teenths",
    "tieths",
    "wise",
    "fold",
    "ably",
)
_CHINESE_NOUNS = {word: word for word in split(
    "个 個 只 隻 道 种 種 名 本 支 枝 张 張 条 條 头 頭 匹 棵 朵 辆 輛 艘 架 台 件 双 雙 对 對 组 組 套 次 位 颗 粒 根 把 "
    "盒 箱 袋 瓶 杯 碗 盆 页 頁 题 題 间 間 家 层 層 排 列 班 级 站 圈 步 局 场 轮 回 遍 块 片 包 串 束 份 项 枚 株 座 幅 "
    "封 篇 首 句 字 顶 副 筐 篮 桶 队 户 棟 栋 冊 册 倍 通り 人次 点"
)} | {"人": "person", "个人": "person"}  # fmt: skip
"""Measure words."""
_MEASURE_WORDS = frozenset(
    "个個只隻道种種名本支枝张張条條头頭匹棵朵辆輛艘架台件双雙对對组組套位颗粒根把盒箱袋瓶杯碗页块片包串份项枚株座"
)
_NOT_CHINESE_NOUN = frozenset(
    "不非无無没沒未以的之是为為负負正半倍万萬亿億百千十一二三四五六七八九零两几多少上下内外余餘左右约約错錯对對或和且若当當时時"
    "到至于於超过過低高大小减減加乘除约整每共在有再又被才就都也等于个個の以が"
)


def _singulars() -> dict[str, str]:
    table: dict[str, str] = {}
    for word in _NOUNS - _NOT_NOUNS:
        plurals = _IRREGULAR.get(word, _plural(word)).split()
        if word in _NEVER_SINGULAR:
            table |= {plural: plural for plural in plurals}
        else:
            table |= dict.fromkeys([word, *plurals], word)
    return table


def _plural(word: str) -> str:
    if word.endswith(("s", "x", "ch", "sh")):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2] not in "aeiou" else f"{word}s"


_SINGULARS = _singulars()
