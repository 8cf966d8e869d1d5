"""An answer without what is said with it: "Sure! It's Paris, not Lyon." is Paris.

    before    an interjection, a label, a source, "I think", "it is", "not Lyon, but", a bullet
    behind    "not Lyon", a reason, a description, "I believe"; of an unmarked response the sentences that explain it

Each is a closed set of phrases. A phrase with which a reference begins stays, and so does what is behind an answer if it
offers another one, doubts or takes back. What is left is compared, so that nothing here makes two answers the same.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

_MAX_CHARS = 300
"""Of an answer that has something before or behind it that is no sentence of its own."""
_MAX_EXPLAINED_CHARS = 1_500
_MAX_LEADS = 5
_TRUTHS = frozenset(
    [
        "yes",
        "no",
        "true",
        "false",
        "是",
        "否",
        "对",
        "错",
        "はい",
        "いいえ",
        "네",
        "예",
        "아니요",
        "아니오",
        "sí",
        "si",
        "oui",
        "non",
        "ja",
        "nein",
        "да",
        "нет",
        "نعم",
        "لا",
        "sim",
        "não",
    ]
)
_STOP = r"(?:[*_]{0,3}(?:[,!:;،，、。]|\.{1,3}|…|\s?[—–-])[*_]{0,3}\s*)"
_AFFIRMS = (
    r"yes|yep|yeah|no|nope|nah|sure(?:\sthing)?|certainly|absolutely|definitely|of\scourse|indeed|correct|right|exactly"
    r"|sí|si|claro|oui|non|bien\ss[ûu]r|ja|nein|nat[üu]rlich|да|нет|конечно|sim|não|sì|certo|نعم|لا"
    r"|是的?|对|对的|不|不对|不是|当然|はい|いいえ|네|예|아니요|아니오"
)
"""Where yes or no is asked these are an answer."""
_INTERJECTIONS = (
    r"well|ok|okay|ah+|oh|hm+|actually|easy|simple|alright|all\sright|honestly|frankly|personally|got\sit|hey|hi|hello"
    r"|(?:that['’]s\s(?:an?\s)?|what\sa\s)?(?:great|good|nice|interesting|excellent|easy)\s(?:question|one)|thanks\s(?:for\sasking)?|thank\syou"
    r"|(?:i['’]?m\s)?happy\sto\shelp|here\s(?:you\sgo|it\sis)|here(?:['’]s|\sis)\s(?:the|my)\s(?:short\s|final\s|correct\s)?answer"
    r"|好的|嗯|pues|bueno|alors|also|nun|ну|итак"
)
_CONNECTIVES = (
    r"so|thus|hence|therefore|consequently|in\s(?:short|summary|conclusion|brief|sum|the\send)|to\s(?:summarize|sum\sup|conclude)|overall"
    r"|ultimately|finally|tl;?dr|(?:in\s)?other\swords|因此|所以|综上(?:所述)?|したがって|よって|따라서|إذن|إذا|luego|entonces|donc|поэтому"
)
_LABELS = (
    r"(?:(?:the|my)\s)?(?:short|quick|brief|direct|final|correct)?\s?(?:ans(?:wer)?|guess|pick|choice)|conclusion|result|response|solution|output|verdict"
    r"|author|year|date|name|city|country|capital|director|person|title|location|place"
    r"|答|回答|解答|答复|正解|最終的な答え|답|답변|최종\s답|최종\s정답|الجواب|الجواب\sالنهائي|الإجابة\sالنهائية|الإجابة|cevap|उत्तर|đáp\sán|คำตอบ|jawaban|odpowiedź|svar|antwoord"
    r"|vastaus|απάντηση|відповідь|odpověď|răspuns|válasz|תשובה"
)
_SOURCE = (
    r"(?:according\sto|based\son|per|as\s(?:stated|mentioned|noted|described|given)\sin|as\sper|from|in)\s"
    r"(?:(?:the|this|these|my|your)\s)?(?:(?:given|provided|above|first|second|third|search)\s)?"
    r"(?:passage|text|article|context|paragraph|documents?|docs?|sources?|information|results?|table|story|excerpt)"
    r"(?:\s(?:provided|given|above))?(?:\s?\[?\d{1,3}\]?)?"
)
_STANCE = (
    r"(?:(?:personally|honestly|frankly),?\s)?(?:i\s(?:think|believe|(?:would|['’]d)\s(?:say|go\swith|guess|pick)|guess|choose|pick|say|am\s(?:fairly|pretty|quite|very)?\s?(?:sure|certain|confident))"
    r"|i['’]d\s(?:say|go\swith|pick)|i(?:['’]ll|\swill)\sgo\swith|i['’]m\s(?:fairly\s|pretty\s|quite\s|very\s|absolutely\s)?(?:sure|certain|confident)|let['’]s\sgo\swith"
    r"|my\s(?:best\s|final\s)?(?:guess|answer|pick|choice)\s(?:is|would\sbe)|the\sanswer(?:\s(?:to|of|for)\s(?:your|the|this)\squestion|\s(?:you(?:['’]re|\sare)\slooking\sfor))?\s(?:is|was|turns\sout\sto\sbe|would\sbe|must\sbe)"
    r"|creo\sque|pienso\sque|je\s(?:pense|crois)\s(?:que\s)?|ich\sglaube,?|я\sдумаю,?|我认为|我觉得|我想)(?:\sthat)?:?"
)
_STATES = (
    r"(?:only|just|necessarily|really|quite|exactly|sure|certain|confident|even|yet|clear|known|given|mentioned|stated|specified|right|correct|true"
    r"|possible|likely|it|so|that|this|my|yes|no|(?:the\s)?(?:right\s|correct\s)?answer)\b"
)
"""What "not …" says of an answer without naming another."""
_IS = (
    r"(?:(?:it|that|this|he|she|they|these|those|(?:his|her|its|their|the)\s(?!(?:mistake|error|opposite|distractor|question|alternative|trap|exception|problem|rest|others?|first|second|last|answer)\b)(?-i:[a-z]{3,14})(?:['’]s\sname)?)"
    r"(?:['’](?:s|re)|\s(?:is|was|are|were|(?:would|must|should|has\sto|have\sto|can\sonly|seems\sto|appears\sto)\s(?:be|have\sbeen)))"
    r"|(?:it|he|she|they)\s(?:is|was|were)\s(?-i:[a-z]{2,12}(?:ed|en|rn|lt|de))(?=\s(?:in|on|by|at)\s)|born(?=\sin\s)|it\s(?:happened|occurred|took\splace|must\shave\sbeen)|(?:must|should|has\sto|would)\sbe|(?:simply|actually|indeed|clearly)(?=\s)"
    r"|het\santwoord\sis|es(?:\sist)?|das\sist|c['’]est|ce\ssont|il\ss['’]agit\sd(?:e|u)|è|é|это|هي|هو|إنها|إنه)"
)
_APPROXIMATELY = r"(?:about|approximately|roughly|approx\.?|some|in(?:\sthe(?:\syear)?)?|on|during|year|the\syear)\s(?=[*_]{0,3}(?:[$€£]?\d|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\s\d))|[~≈]\s?(?=\d)"
_BY = r"(?:in|at|from)\s(?=(?:the\s)?(?-i:[A-Z]))|(?:(?:written|directed|painted|composed|produced|founded|created|invented|discovered|designed|sung|performed|played|published|developed|recorded|built)\s)?by\s(?=(?-i:[A-Z]))"
_HONORIFIC = r"(?-i:Mr|Mrs|Ms|Dr|Prof)\.?\s(?=[A-Z])|(?-i:Professor|Sir|Dame|President)\s(?=[A-Z])"
_LEADS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:{_INTERJECTIONS}){_STOP}",
        rf"(?:{_CONNECTIVES})(?:{_STOP}|(?<=[a-z])\s)",
        rf"(?:{_LABELS})[*_]{{0,3}}\s?(?:[:：=→]|-+>)[*_]{{0,3}}\s*|ans\.\s",
        rf"(?:{_SOURCE}){_STOP}",
        rf"{_STANCE}\s?(?!not\b)",
        rf"{_IS}\s(?!not\b|no\b)",
        r"(?:那?就是|那是|应该是|应是|应为|当然是|它是|这是|他是|她是|是)(?!否|不|不是)|(?:答案|结果)[是为](?!否|不)|(?:それは|これは|答えは|正解は)|(?:그것은|정답은|답은)\s",
        _APPROXIMATELY,
        _BY,
        _HONORIFIC,
        rf"not\s(?!{_STATES})"
        r"[^,.;:!?\n—–]{1,40}?(?:,\sbut|\sbut|[,;:]|\s?[—–])\s(?:rather\s)?",
        r"不是[^，。？！\n]{1,30}，(?:而)?是|[^、。？！\n，]{1,30}(?:ではなく(?:て)?|じゃなくて)、?|[^,.?!\n]{1,30}(?:이|가)\s?아니라\s",
        r"(?:1[.)]|[-+*])\s(?!.*\n)",
    )
)
_AGREEING = re.compile(
    rf"(?:sure|certainly|absolutely|definitely|of\scourse|indeed|correct|right){_STOP}(?=[*_]{{0,3}}(?:yes|true)\b)",
    re.IGNORECASE,
)
_AFFIRMING = re.compile(rf"(?:{_AFFIRMS}){_STOP}", re.IGNORECASE)
_MORE = re.compile(
    r"(?<![^\W_])(?:or|either|maybe|perhaps|possibly|however|although|though|actually|wait|sorry|w?h?oops|meant|kidding|(?:scratch|take)\s(?:that|it|this)|not\sreally|then\sagain|second\sthoughts?|reflection|wrong|incorrect|mistaken?|mistakes?"
    r"|alternatively|instead|correction|unless|if|might|could|may|unsure|but|also|another|doubt\w*|guess|else|nope|false|depends?|oder|ou|o|или|peut-être|vielleicht|quizás?)(?![^\W_])"
    r"|\b(?:not|n['’]t|never)\s(?:sure|certain|right|correct|true|so|it|my|(?:the|my)\s(?:right\s|correct\s)?answer|clear)\b|n['’]t\s(?:sure|certain|right|correct|true|it)\b"
    r"|[?？؟❌✗✘]|也许|可能|或|但|不对|错|もしくは|または|かも|しかし|또는|혹은|아마|하지만|أو|ربما",
    re.IGNORECASE,
)
"""Another answer, a doubt, or what takes an answer back."""
_CONTRAST = re.compile(
    r"[*_\"”»」)]{0,3}(?:\s?[,،，、;—–(（]\s?|\s-\s|\s(?=rather\b|instead\b|and\snot\b|а\sне\b|وليس))"
    r"(?:(?:and\s|but\s)?not\s(?!" + _STATES + r")|rather\sthan\s|instead\sof\s|as\sopposed\sto\s"
    r"|pas\s|et\snon\s|nicht\s|y\sno\s|non\s|não\s|e\snão\s|(?:а\s)?не\s|而不是|而非|不是|并非|وليست?\s)[^,.;:!?，。；？！،()（）\n]{1,60}[)）]?",
    re.IGNORECASE,
)
_SPANISH_CONTRAST = re.compile(r",\sno\s[^,.;:!?()\n]{1,60}", re.IGNORECASE)
_REASON = re.compile(
    r"[*_\"”]{0,3}(?:(?:\s?[,;—–:]|\s-)?\s(?:because|given\sthat|due\sto|weil|porque|parce\sque|perché|потому\sчто)\s"
    r"|(?:\s?[,;—–]|\s-)?\s(?:as|since)\s(?=(?:it|its|this|that|the|he|she|they|there|no|all|both|only|we|[a-z]+\s(?:is|was|has|are|were))\b)|\s?[,;—–]\s(?:car|da|denn|так\sкак)\s"
    r"|[,，]\s?因为|[,，]\s?(?=理由)|です[。.]?\s?(?=[^。]{2,60}(?:から|ため)です))",
    re.IGNORECASE,
)
_DESCRIPTION = re.compile(
    r"[*_\"”]{0,3}(?:\s?[,—–:]\s|\s-\s)(?:which|who|whose|where|located|home\sto|known\sfor|also\sknown\sas|(?-i:(?:the|an?|it\s(?:is|was|has)|it['’]s)\s(?:[A-Z][a-z]+(?:ish|an|ese|ch)\s)?[a-z])|by\s(?-i:[A-Z]|the\s))"
    r"|;\s(?:it|this|that|he|she|they)\s|\s(?=by\s(?-i:[A-Z]|the\s))"
    r"|[*_\"”]{0,3}\s?[(（](?:the|an?|also|aka|formerly|in|from|population|source|sources|see|according\sto|as|doc(?:ument)?\s\d|passage\s\d)(?![^\W_])|[*_\"”]{0,3}\s?[(（](?:\d{4}\s?[-–]\s?\d{4})\)",
    re.IGNORECASE,
)
_AND_ANOTHER = re.compile(r"(?:,\s|\s)(?:and|&)\s(?:the\s)?(?-i:[A-Z])|[,;]\s(?-i:[A-Z])|/|\n")
_STANCE_BEHIND = re.compile(
    r"[*_\"”]{0,3}(?:,\s|\s[—–-]\s|\s\()(?:i\s(?:think|believe|guess|suppose|['’]?d\ssay)|(?:most\s)?(?:definitely|certainly|obviously|clearly|probably|likely|naturally)|of\scourse|for\s(?:sure|certain)"
    r"|without\s(?:a\s)?doubt|in\s(?:total|all|my\sopinion)|if\si\sremember\s(?:correctly|right)|according\sto\s[^,.;\n]{1,40}|as\s(?:stated|mentioned)\s[^,.;\n]{1,40})\)?"
    r"|\sit\s(?:is|was)|\s(?:did|wrote\sit|is\sthe\s(?:correct\s|right\s|final\s)?answer|is\s(?:correct|right)|is\smy\s(?:final\s)?(?:answer|guess)|would\sbe\smy\s(?:answer|guess)|seems\s(?:right|correct)|in\stotal)",
    re.IGNORECASE,
)
_EDGES = " \t\n.。!！…"
_BEHIND_HAN = re.compile(
    r"(?:ですね|だと思います|でしょう|になります|となります|인\s것\s같습니다|인\s것\s같아요)\Z|です(?=。)"
)
_EXPLAINS = re.compile(
    r"(?:[.!。！][*_\"”]{0,3}\s+|[*_\"”.]{0,4}\s*\n+)[*_#\s]{0,6}(?P<told>(?:it|this|that|he|she|they|these|the|its|his|her|their|both|only|because|since|according|based|explanation|reason(?:ing)?|note|background|context|解释|理由|原因|说明)(?![^\W_]))",
    re.IGNORECASE,
)
_NAMES_ANOTHER = re.compile(
    r"(?<![^\W_])(?:is|was|are|were|['’]s|answer)[*_:\s\"“]{1,5}(?P<name>(?:(?:the\s)?[A-Z][\w’'-]*|\d[\d.,]*)(?:\s(?:[A-Z][\w’'-]*|of|the)){0,3})[*_\"”]{0,3}(?=[.!,;\n]|\Z)"
)
_MIN_EXPLAINING_WORDS = 4
_ACRONYM = re.compile(
    r"(?P<name>[^()]{3,120}?)\s\((?P<short>[A-Z][A-Za-z.]{1,9})\)|(?P<short2>[A-Z][A-Z.]{1,9})\s\((?P<name2>[^()]{3,120})\)"
)


def readings(answer: str, references: Sequence[tuple[str, ...]], is_unmarked: bool) -> Iterator[str]:
    """What an answer may be apart from what is said with it, most likely first; nothing where it is only itself.

    `is_unmarked`: no tag, box or phrase says where the answer ends, so that sentences behind it may explain it.
    """
    wanted = [part.strip(" \"'“”«»*_").lower() for parts in references for part in parts]
    asks_truth = any(part.strip(_EDGES) in _TRUTHS for part in wanted)
    if is_unmarked and (explained := _explained(answer)):
        yield explained
        yield from _readings(explained, wanted, asks_truth)
    if len(answer) <= _MAX_CHARS:
        yield from _readings(answer, wanted, asks_truth)


def _readings(answer: str, wanted: Sequence[str], asks_truth: bool) -> Iterator[str]:
    whole = answer
    answer = _without_leads(answer, wanted, asks_truth)
    if asks_truth and (word := _truth(answer)):
        yield word
        return
    shorter = _without_ends(answer)
    if shorter != answer:
        answer = _without_leads(shorter, wanted, asks_truth)
    if answer != whole:
        yield answer
    if acronym := _ACRONYM.fullmatch(answer.strip(_EDGES)):
        yield from _of_acronym(acronym)


def _without_leads(text: str, wanted: Sequence[str], asks_truth: bool) -> str:
    """A text without the phrases before its answer that no reference begins with."""
    for _ in range(_MAX_LEADS):
        text = _without_sign(text)
        lead = next((found for each in _LEADS if (found := each.match(text))), None)
        if lead is None:
            lead = (_AGREEING if asks_truth else _AFFIRMING).match(text)
        if lead is None or not any(map(str.isalnum, text[lead.end() :])):
            return text
        said = lead[0].strip(" \t\n*_.,:;!—–-…、，：。").lower()
        if said and any(part.startswith(said) for part in wanted):
            return text
        text = text[lead.end() :]
    return text


def _without_sign(text: str) -> str:
    """Without the pictures and arrows before it, but for those that call wrong what follows."""
    place = 0
    text = text.lstrip("*_> \t\n")
    while place < min(len(text), 4) and _is_sign(text[place]):
        place += 1
    return text[place:].lstrip("*_ \t\n") if place else text


def _is_sign(char: str) -> bool:
    if char.isascii() or char in "❌✗✘✖❎🚫⛔👎❓❔≠≤≥¬√":
        return False
    return char in "\ufe0f\u200d•‣▪◦·→⇒➡➜➔∴" or unicodedata.category(char) == "So"


def _truth(text: str) -> str | None:
    """The yes or no with which a text begins that gives reasons for it, and does not say the other."""
    word = _TRUTH.match(text)
    if word is None or _MORE.search(text, word.end()) or _IN_PART.search(text, word.end()):
        return None
    value = word["word"].lower()
    others = _TRUTHS - {value} if value in ("yes", "no", "true", "false") else frozenset()
    later = {each.lower() for each in _ANY_TRUTH.findall(text, word.end())}
    opposite = {"yes": {"no", "false"}, "no": {"yes", "true"}, "true": {"false", "no"}, "false": {"true", "yes"}}
    return None if others and later & opposite[value] else word["word"]


_TRUTH = re.compile(
    r"[*_\"“\s]{0,4}(?P<word>yes|no|true|false|是的|是|否|はい|いいえ|네|예|아니요|아니오|sí|oui|non|ja|nein|да|нет|نعم|لا|sim|não)[*_\"”]{0,3}(?:[.,;:!،，、。]|\s?[—–]|\s-\s)[*_]{0,3}(?=\s*\S)",
    re.IGNORECASE,
)
_ANY_TRUTH = re.compile(r"(?<![^\W_])(?:yes|no|true|false)(?=[^\w\s]|\s*\Z)", re.IGNORECASE)
_IN_PART = re.compile(
    r"\b(?:partly|partially|half|mostly|sometimes|somewhat|sort\sof|kind\sof|in\sa\sway)\b", re.IGNORECASE
)


def _without_ends(text: str) -> str:
    """A text without what is said behind its answer and offers no other."""
    text = text.rstrip(_EDGES)
    if not text.isascii():
        text = _BEHIND_HAN.sub("", _without_signs_behind(text))
    for _ in range(2):
        end = _end(text)
        if end is None:
            break
        text = text[:end].rstrip(_EDGES)
    return text


def _without_signs_behind(text: str) -> str:
    end = len(text)
    while end and (_is_sign(text[end - 1]) or text[end - 1].isspace()):
        end -= 1
    return text[:end].rstrip(_EDGES)


def _end(text: str) -> int | None:
    """Where the answer ends before what is said behind it: a contrast, how sure it is, a reason, a description."""
    for expression in (_CONTRAST, _STANCE_BEHIND) if text.isascii() else (_CONTRAST, _SPANISH_CONTRAST, _STANCE_BEHIND):
        for found in expression.finditer(text, 1):
            if found.end() == len(text):
                return found.start()
    if (reason := _REASON.search(text, 1)) and not _offers_another(text, reason):
        return reason.start()
    described = _DESCRIPTION.search(text, 1)
    if described is None or _AND_ANOTHER.search(text, described.end()) or _offers_another(text, described):
        return None
    return described.start()


def _offers_another(text: str, behind: re.Match[str]) -> bool:
    """Whether what is said behind an answer doubts it, or names another."""
    if _MORE.search(text, behind.end()):
        return True
    name = text[: behind.start()].strip('*_"“” ').lower()
    return any(name not in each["name"].lower() for each in _NAMES_ANOTHER.finditer(text, behind.start()))


def _explained(text: str) -> str | None:
    """What the first sentence or line says, where all that follows tells more of it."""
    if len(text) > _MAX_EXPLAINED_CHARS:
        return None
    line = text.find("\n\n", 0, _MAX_CHARS)
    told = _EXPLAINS.search(text, 1, _MAX_CHARS)
    head = text[:line].strip("*_.: \n") if line > 0 else ""
    if told is not None:
        head, begin = text[: told.start()], told.start("told")
    elif head and text.startswith(
        head, line + 2 + len(text[line + 2 : line + 6]) - len(text[line + 2 : line + 6].lstrip("\n*_ "))
    ):
        begin = line + 2
    else:
        return None
    rest = text[begin:]
    name = head.strip('*_"“”.: \n').lower()
    first = re.split(r"[.!\n]", rest, maxsplit=1)[0]
    if len(first.split()) < _MIN_EXPLAINING_WORDS and not rest.lower().startswith(
        ("explanation", "reason", "note", "解", "理", "原", "说")
    ):
        return None
    if _MORE.search(rest) or any(name not in each["name"].lower() for each in _NAMES_ANOTHER.finditer(rest)):
        return None
    return head


def _of_acronym(found: re.Match[str]) -> Iterator[str]:
    """A name and the letters it is abbreviated to, where those begin its words."""
    name, short = found["name"] or found["name2"], found["short"] or found["short2"]
    initials = "".join(word[0] for word in re.findall(r"[^\W\d_]+", name) if word[0].isupper() or word not in _SMALL)
    capitals = "".join(word[0] for word in re.findall(r"[^\W\d_]+", name) if word[0].isupper())
    if short.replace(".", "").upper() in (initials.upper(), capitals.upper()):
        yield name
        yield short


_SMALL = frozenset(["of", "the", "and", "for", "in", "on", "de", "la"])
