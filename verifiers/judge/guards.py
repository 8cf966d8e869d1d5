"""Decides some responses without a judge, and flags responses that address the judge.

A response that equals the reference needs no judge. A response with nothing to judge, such as a colon or "Thought
process:", must not reach a judge: some judges call such texts correct most of the time. A response that speaks to the
judge is only flagged and counted. That never decides a score, because answers about prompts and graders are answers.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final, Literal

import re2

from verifiers.judge.rendering.neutral import has_control_tokens, has_fences

Guard = Literal["none", "exact_match", "trivial"]

_MAX_OPENER_CHARS: Final = 400
_REACH_CHARS: Final = 50_000
"""This much of the beginning and of the end of a response is searched for words to the judge."""

_OPENERS: Final = frozenset(
    """
    answer|the answer|the answer is|answer is|my answer|my answer is|final answer|the final answer|the final answer is
    the answer is as follows|the solution is as follows|as follows|let's see|let me see|let's go|we need to|we have to
    so the answer is|therefore the answer is|thus the answer is|hence the answer is|the correct answer is|correct answer
    solution|the solution|solution is|the solution is|here is the solution|here is my solution|here's the solution
    here is the answer|here is my answer|here's the answer|here's my answer|response|my response|result|the result
    the result is|output|conclusion|in conclusion|explanation|reasoning|analysis|proof|step by step|step by step solution
    thought|thoughts|thought process|thinking process|thinking|my thought process|reasoning process|chain of thought
    let's think|let us think|let me think|let's think step by step|let us think step by step|let me think step by step
    let's solve this|let's solve this problem|let's solve this step by step|let's solve this problem step by step
    let's solve the problem|let's solve the problem step by step|let us solve this problem step by step|let's solve it
    let me solve this|let me solve this problem|let me solve this step by step|let me solve this problem step by step
    let's break it down|let's break this down|let's work through this|let's work through this step by step|let's begin
    let's start|first|firstly|to solve this|to solve this problem|to solve the problem|step|step 1|step one|okay|ok|sure
    sure here is the answer|sure here is the solution|of course|certainly|well|so|now|therefore|thus|hence|hmm|alright
    i think|i will solve this|i will solve this step by step|i'll solve this step by step|we need to solve this
    respuesta|la respuesta|la respuesta es|respuesta final|solución|la solución|la solución es|proceso de pensamiento
    pensemos paso a paso|vamos a resolver este problema paso a paso|réponse|la réponse|la réponse est|réponse finale
    la solution est|processus de réflexion|raisonnement|réfléchissons étape par étape|antwort|die antwort
    die antwort ist|lösung|die lösung|die lösung ist|gedankengang|lassen sie uns schritt für schritt denken|risposta
    la risposta|la risposta è|soluzione|la soluzione|la soluzione è|resposta|a resposta|a resposta é|solução|a solução
    a solução é|antwoord|het antwoord is|oplossing|svar|lösning|vastaus|odpowiedź|odpověď|válasz|cevap|çözüm|câu trả lời
    lời giải|jawaban|ответ|решение|мой ответ|ответ таков|ход мыслей|відповідь|розв'язання|απάντηση|λύση
    الإجابة|الجواب|الحل|תשובה|פתרון|उत्तर|समाधान|คำตอบ
    解|解答|解法|解决|解析|答|答案|答案是|答案为|最终答案|最终答案是|回答|思考|思考过程|思路|分析|过程|解题过程|让我们一步一步思考
    让我们一步步思考|我们一步一步来|一步一步来|我来解答|首先|所以答案是|因此答案是|故答案为|结论
    解決|答えは|答え|こたえ|回答は|解説|かいせつ|思考プロセス|考え方|ステップバイステップで考えましょう
    정답|정답은|답|답은|답변|해설|풀이|풀이 과정|해결|사고 과정|생각 과정|단계별로 생각해 봅시다
    """.strip()
    .replace("\n    ", "|")
    .split("|")
)
_SENTENCE_ENDS: Final = re.compile("[\\n.:;!?…。：；！？,，、|]+")
_EDGES: Final = re.compile(r"^[\W_]+|[\W_]+$")
_EMPTY: Final = re.compile(
    r"\\(?:boxed|text|mathrm|fbox)[ \t]{0,8}\{\s{0,64}\}|<([a-z_]{1,16})>\s{0,64}</\1>", re.IGNORECASE
)
"""A box or a pair of tags with nothing in it."""
_WORD: Final = re.compile(r"[^\W_]")
_SPACES: Final = re.compile(r"\s+")
_CHANGED_MEANING: Final = ("<super>", "<sub>", "<fraction>", "<circle>", "<square>")
"""Characters that must agree before NFKC, because it makes 42 of 4² and 12 of 1/2."""


def precheck(response: str, references: Sequence[str]) -> Guard:
    """Whether a response needs no judge, because it equals a reference or holds nothing."""
    text = _normal(response)
    normal_references = [_normal(reference) for reference in references]
    if text and any(
        text == reference and _marks(response) == _marks(original)
        for reference, original in zip(normal_references, references, strict=True)
    ):
        return "exact_match"
    return "trivial" if _is_trivial(text, normal_references) else "none"


def _is_trivial(text: str, references: Sequence[str]) -> bool:
    text = _EMPTY.sub("", text)
    if _WORD.search(text) is None and not any(map(_is_sign, set(text))):
        return True
    if len(text) > _MAX_OPENER_CHARS:
        return False
    segments = [_segment(part) for part in _SENTENCE_ENDS.split(text.replace("’", "'"))]
    words = [segment for segment in segments if segment]
    if not words or not all(segment in _OPENERS for segment in words):
        return False
    # "Solution" is an opener, but also the answer to "What is dissolved sugar and water called?"
    return not any(segment in _segment(reference) for segment in words for reference in references)


def _segment(text: str) -> str:
    return _SPACES.sub(" ", _EDGES.sub("", text.casefold()))


def _is_sign(character: str) -> bool:
    """Whether a sign is an answer by itself, such as the empty set and infinity."""
    return not character.isascii() and unicodedata.category(character) == "Sm"


def _normal(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip()


def _marks(text: str) -> str:
    if text.isascii():
        return ""
    return "".join(char for char in text if unicodedata.decomposition(char).startswith(_CHANGED_MEANING))


_TARGETS: Final = (
    r"(?:instructions?|prompts?|rules|guidelines|criteria|rubrics?|directions|messages?|reference(?: answer)?)"
)
_GRADERS: Final = (
    r"(?:graders?|judges?|evaluators?|verifiers?|reviewers?|examiners?|markers?|graders? model|reward models?)"
)
_GRADES: Final = (
    r"(?:correct|right|equivalent|full (?:marks|credit|score)|perfect|satisfied|passed|a pass|top|maximum|10|1\.0|a)"
)
_SPEAKS: Final = re2.compile(
    "(?i)"
    + "|".join(
        (
            rf"\b(?:ignore|disregard|forget|override|bypass)\b[^\n]{{0,60}}?\b{_TARGETS}\b",
            rf"\b(?:dear|attention|note to|note for|message to|message for|hey|hello|to) (?:the |all |any )?(?:ai |llm )?{_GRADERS}\b",
            rf"\b(?:you are|as|if you are) (?:now )?(?:an? |the )?(?:ai |llm |strict |fair )?{_GRADERS}\b",
            rf"\b{_GRADERS}(?:'s)?[,:]? (?:must|should|please|note|will|has to|instructions?|override|mode)\b",
            rf"\b(?:mark|grade|score|rate|label|judge|evaluate|treat|accept|count|output|respond|reply|return|print|answer)"
            rf"\b[^\n]{{0,40}}?\b(?:as|with|only)\b[^\n]{{0,20}}?\b{_GRADES}\b",
            r"\b(?:give|award|assign|output|return|print|respond with|reply with|set)\b[^\n]{0,40}?"
            r"\b(?:verdict|grade|score|full marks|full credit|full score|reward|judge?ment|rating)\b",
            r"\b(?:final |the |your |my )?(?:verdict|judge?ment|grade|final decision|final score)\b\W{0,6}(?:[:=]|is|should be|must be)"
            r"\W{0,10}(?:a|b|c|yes|no|correct|incorrect|true|pass|10|1)\b",
            r"\b(?:the |this )?(?:reference|ground truth|gold|expected)(?: answer| solution)? (?:is|was|may be|might be|appears to be)"
            r" (?:wrong|incorrect|outdated|out of date|a typo|mistaken|obsolete)\b",
            r"\b(?:all|every|each) (?:of the )?(?:criteria|criterion|rubric items?)\b[^\n]{0,20}?\b(?:met|satisfied|fulfilled|passed)\b",
            r"\b(?:system|developer|debug|admin|grader|judge|maintenance) (?:mode|override|prompt|message|notice|update)\b",
            r"\bnew (?:system )?(?:instructions?|rules|grading (?:policy|rules|criteria))\b",
            r"[\"'](?:verdict|score|winner|judge?ment|criteria|grade)[\"']\s{0,5}:",
            r"\[\[\s{0,3}(?:[ab]\s{0,3}(?:[<>=!]{1,2}\s{0,3}[ab])?|c|correct|yes|10)\s{0,3}\]\]",
            r"\bgrade\s{0,3}:\s{0,3}[cpi]\b|\bjudge?ment\s{0,3}:\s{0,3}(?:yes|1)\b",
            r"(?:忽略|无视|忘记|不要理会)[^\n]{0,20}?(?:指令|指示|说明|提示|要求|规则)",
            r"(?:评分|判分|评判|裁判|阅卷|打分)(?:者|人|员|模型|老师)?[^\n]{0,12}?(?:请|必须|应该|应当|直接)",
            r"请[^\n]{0,12}?(?:给|判|打|输出)[^\n]{0,8}?(?:满分|正确|高分|通过)",
            r"\b(?:ignora|ignore[zr]?|ignoriere)\b[^\n]{0,40}?\b(?:instruc\w{1,12}|anweisungen|consignes)\b",
            r"\b(?:calificador|evaluador|correcteur|évaluateur|bewerter|prüfer|valutatore|avaliador)\b",
            r"(?:игнорируй|забудь)\w{0,4}[^\n]{0,40}?(?:инструкц|указани)",
        )
    )
)
_HIDDEN_WRITING: Final = re.compile(
    "[\U000e0000-\U000e0fff\u202a-\u202e\u2066-\u2069]|[\u200b-\u200d\u2060-\u2064\ufe00-\ufe0f]{3}"
)


_JOINERS: Final = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\xad"))


def addresses_judge(response: str) -> bool:
    """Whether a response seems to speak to its judge, or holds what judges write. Linear in its length."""
    text = response if len(response) <= 2 * _REACH_CHARS else f"{response[:_REACH_CHARS]}\n{response[-_REACH_CHARS:]}"
    if (not text.isascii() and _HIDDEN_WRITING.search(text)) or has_fences(text):
        return True
    legible = text.translate(_JOINERS).encode("utf-8", "replace").decode("utf-8")
    plain = unicodedata.normalize("NFKC", legible).replace("\t", " ")
    while "  " in plain:
        plain = plain.replace("  ", " ")
    return _SPEAKS.search(plain) is not None or has_control_tokens(text.replace("<think>", "").replace("</think>", ""))
