"""Options that a response concludes on without calling them the answer: ✅ B, "D fits", 对应D选项, "C passt"."""

import re
from collections import deque
from collections.abc import Iterator
from itertools import islice

from verifiers.rules.multiple_choice import languages
from verifiers.rules.multiple_choice.choices import MultipleChoiceParams
from verifiers.rules.multiple_choice.commitment import Found
from verifiers.rules.multiple_choice.forms import form_of
from verifiers.rules.multiple_choice.lines import last_line
from verifiers.rules.multiple_choice.options import BESIDE_CHARS, SAYS_AGAINST, Options, allows_another, lets_stand
from verifiers.rules.multiple_choice.phrases import Clues
from verifiers.rules.multiple_choice.scripts import CROSSES
from verifiers.sightings import Scan

_TICKS = "✅✔☑✓👉🎯➡"
TICKED, CROSSED = re.compile(f"[{_TICKS}]"), re.compile(f"[{CROSSES}]")
_MARK = re.compile(f"([{_TICKS}{CROSSES}])\ufe0f?")
_MAX_MARKED_LINES = 64
"""Earlier ones are not looked at."""
_MAX_MARKS = 64
"""In a line; later ones are not looked at."""


def marked(clues: Clues, params: MultipleChoiceParams, options: Options) -> Found | None:
    """The option that has a tick, where the first or the last line has marks of right and wrong."""
    text = clues.scene.text
    if text.isascii() or _MARK.search(_edges_of_lines(text)) is None:
        return None
    if any(map(_MARK.search, options.texts.values())):
        return None
    ticked: set[str] = set()
    crossed: set[str] = set()
    span, seen = None, []
    for is_ticked, start, end in _entries(text):
        labels = options.named(text[start:end], is_declared=False) if start < end else frozenset[str]()
        if labels is None:
            continue
        if not labels:
            return Found(None, "conflicting_answers", "line", None, (text[start:end],))
        (ticked if is_ticked else crossed).update(labels)
        if is_ticked:
            span = (start, end)
            seen.append(text[start:end])
    if not ticked:
        return None
    if ticked & crossed or (len(ticked) > 1 and not params.multi):
        return Found(None, "conflicting_answers", "line", None, tuple(seen))
    if span is None or _is_answered_elsewhere(text, span[1], frozenset(ticked), options):
        return Found(None, "conflicting_answers", "line", None, tuple(seen))
    return Found(frozenset(ticked), "found", "line", span, tuple(seen))


def _is_answered_elsewhere(text: str, end: int, ticked: frozenset[str], options: Options) -> bool:
    """Whether what follows the last tick says something else of it, or a last line without a mark names another option."""
    if lets_stand(text[end : end + BESIDE_CHARS].lstrip(_BEHIND_TICK), ticked, options):
        return True
    last = last_line(text)
    other = None if _MARK.search(last) else options.named(last, is_declared=False)
    return other is not None and not (other and other <= ticked)


_BEHIND_TICK = f"{_TICKS}\ufe0f \t*_"


def _edges_of_lines(text: str) -> str:
    """What the first and the last line begin and end with: there are the marks, if there are any."""
    first, last = text.find("\n"), text.rfind("\n") + 1
    first = len(text) if first < 0 else first
    return (
        text[:_EDGE_CHARS]
        + text[max(0, first - _EDGE_CHARS) : first]
        + text[last : last + _EDGE_CHARS]
        + text[-_EDGE_CHARS:]
    )


_EDGE_CHARS = 8


def _entries(text: str) -> Iterator[tuple[bool, int, int]]:
    """What a mark stands before or, if a line does not begin with one, behind: whether it is a tick, and where that is.

    An empty place tells that a mark has nothing beside it, so that it is unclear to what each belongs.
    """
    lines = deque((line for line in re.finditer(r"[^\n]+", text) if _MARK.search(line[0])), _MAX_MARKED_LINES)
    for line in lines:
        marks = list(islice(_MARK.finditer(text, *line.span()), _MAX_MARKS))
        is_before = not any(map(str.isalnum, text[line.start() : marks[0].start()]))
        ends = [*(mark.start() for mark in marks[1:]), line.end()] if is_before else [mark.start() for mark in marks]
        starts = [mark.end() for mark in marks] if is_before else [line.start(), *(mark.end() for mark in marks[:-1])]
        for mark, start, end in zip(marks, starts, ends, strict=True):
            shown = text[start:end]
            bare = shown.strip(_AROUND)
            begin = start + shown.find(bare)
            yield mark[1] in _TICKS, begin, begin + len(bare)


_AROUND = " \t\r,;|·•-–—>*_#"
_SENTENCE_CHARS = 160
_STOPS = (". ", "! ", "? ", "\n", "。", "！", "？")
_ENDS = r"[.!。！*_\s]{0,4}"
_OPENS, _CLOSES = r"[*_(\[\"“'‘]{0,4}", r"[*_)\]\"”'’]{0,4}"
_OPTION = rf"{_OPENS}(?P<option>[^\W_](?:[^\n.,;:!?()\[\]*_“”\"]{{0,79}}?))(?![^\W_]){_CLOSES}"
_SO = (
    r"(?:(?:(?:(?:out\s)?of|among)\s(?:(?:all|the|these|those|two|three|four|five|six|seven|eight|nine|ten|given|available|listed|possible)\s){1,3}(?:options|choices|alternatives|answers)|(?:out\s)?of\s(?:the|these|those|all)\s(?:three|four|five)"
    r"|by\s(?:(?:the\s)?process\sof\s)?elimination|(?:and\s)?so|thus|hence|therefore|then|clearly|overall|finally|consequently|ultimately|evidently|in\sconclusion"
    r"|as\sa\sresult|in\s(?:short|brief|summary)|to\s(?:summari[sz]e|sum\sup)|in\sthe\send|okay|ok|well|por\s(?:lo\s)?tanto|entonces|así\sque|donc|ainsi|par\sconséquent|also|daher|somit"
    r"|folglich|deshalb|portanto|logo|assim|então|quindi|dunque|perciò|pertanto|следовательно|значит|итак|поэтому"
    r"|таким\sобразом)\b,?\s){0,2}"
)
_FITS = (
    r"(?:(?:best|clearly|perfectly|exactly)\s)?(?:fits|works|matches|wins|qualifies|suffices|satisfies|meets|fulfill?s|holds"
    r"|applies|makes\s(?:the\smost\s|perfect\s)?sense)"
)
_SAYS_IT = (
    r"(?:best|correctly|accurately|most\saccurately|fully|exactly)\s(?:answers|describes|explains|represents|captures|completes|reflects|expresses"
    r"|summari[sz]es|illustrates|states|defines|identifies|lists|names|gives|shows|matches|fits|satisfies|meets)"
)
_WELL = r"(?:best|perfectly|exactly|precisely|completely|fully|nicely|well|here|indeed|alone|then|after\sall|without\sa\sdoubt)"
_OBJECT = r"(?:(?:the|all|our|these|this|every|each|what|with|to)\s(?P<object>[^\n.,;:!?\d=]{1,60})|(?:this|that|these|those|it|them|everything)(?:\swell|\sbest)?)"
_IS_IT = (
    r"is\s(?:clearly\s|indeed\s|definitely\s)?(?:it|the\s(?:one(?:\s(?:that\s)?(?:we|i)(?:['’]re|\sare|\sam)?\s(?:want|need|seek|looking\sfor|after))?|winner|match|best\s(?:fit|match|one))|my\s(?:final\s)?(?:answer|pick|choice)"
    r"|what\s(?:we|i|they)(?:['’](?:re|m)|\sare|\sam)?\s(?:looking\sfor|want|need|after|asked\sfor)"
    r"|what\s(?:the\squestion\s(?:asks|is\sasking|wants)(?:\sfor)?|(?:is|was)\s(?:asked(?:\sfor)?|wanted|needed|described)))"
)
_SEEMS = (
    r"(?:(?:seems|looks|appears|sounds)(?:\sto\sbe|\slike)?|should\sbe|(?:has|ought)\sto\sbe|is\s(?:(?:very|most|quite)\s)?(?:likely|probably))\s"
    r"(?:clearly\s|indeed\s)?(?:the\s)?(?:correct|right|best|true|answer|one|likeliest|most\s(?:likely|plausible|reasonable|accurate|appropriate))"
    r"(?:\s(?:answer|option|choice|one))?|is\sthe\s(?:likeliest|likely|probable)(?:\s(?:answer|option|choice|one))?"
)
"""How an option is called right with caution; not said of what the text goes on to reject, it is the answer."""
_NOUN = (
    r"(?:(?:only\s)?(?:(?:the|la|el|il|le|a|o|die|der|das)\s|l['’]))?(?:only\s)?(?:(?:option|choice|answer|letter|opción|respuesta|alternativa"
    r"|letra|opção|resposta|réponse|proposition|lettre|antwort|risposta|opzione|lettera|вариант|ответ)\s)?"
)
_RIGHT = (
    r"(?:(?:la|el|a|o|il|le|die|der|das)\s|l['’])?(?:(?:respuesta|opción|alternativa|resposta|opção|risposta|opzione|réponse|option"
    r"|antwort)\s)?(?:correct[ao]|correcte?|corrett[ao]|corret[ao]|juste|exacte|bonne(?:\sréponse)?|cert[ao]|giust[ao]|richtige?|korrekte?)"
    r"(?:\s(?:antwort|option|réponse))?"
)
_PASSES = (
    rf"(?:(?:es|é|è|est|ist)\s{_RIGHT}|(?:passt|stimmt|convient|encaja|подходит)(?:\s(?:am\sbesten|genau|le\smieux|mejor|лучше\sвсего))?"
    r"|(?:[—–-]\s)?(?:верно|верен|верный|верна|правильный|правильно|правилен)(?:\s(?:ответ|вариант))?)"
)
_LEAVES = (
    r"(?:(?:that|this|it|which)\s(?:only\s|just\s)?leaves\s(?:(?:us|me)\swith\s)?|(?:we|i)(?:['’](?:re|m)|\sare|\sam)\s(?:now\s|only\s)?left\swith\s"
    r"|(?:all|what)(?:['’]s|\sthat['’]s|\sthat\sis|\sis|\sthat)?\s(?:remains|left)\sis\s"
    r"|by\s(?:(?:the\s)?process\sof\s)?elimination,?\s(?:it(?:['’]s|\sis)\s)?)(?:only\s|just\s)?"
)
_GONE = (
    r"(?:(?:having|after|by)\s)?(?:eliminat|exclud|rul|remov)(?:ing|ed)(?:\sout)?\s(?P<gone>[^\n.:;!?]{1,60}?)"
    r"(?:\sleaves\s(?:(?:us|me)\swith\s)?|,\s(?:we|i)(?:['’](?:re|m)|\sare|\sam)\sleft\swith\s)(?:only\s|just\s)?"
)
_GONE_FIRST = (
    r"(?P<gone>[^\n.:;!?]{1,60}?)\s(?:can|could|may|must|should|are|is|have|has)\s(?:(?:all|both|therefore|thus|now|be|been|safely)\s){0,3}"
    r"(?:eliminated|excluded|ruled\sout|removed|crossed\sout)[^\n.:;!?]{0,40}?,?\s(?:and\s(?:this|that)\s|which\s)?(?:leaving|leaves)\s(?:(?:us|me)\swith\s)?(?:only\s|just\s)?"
)
_SURELY = (
    r"(?:obviously|clearly|certainly|definitely|undoubtedly|of\scourse|for\s(?:sure|certain)|no\sdoubt|without\s(?:a\s|any\s)?doubt"
    r"|i(?:['’]d|\swould)?\s(?:think|believe|guess|suppose|say)|i['’]m\s(?:sure|certain|confident))"
)
_OF_ITS_KIND = r"(?:(?:that|which)\s)?(?:is|has|does|can|contains|includes|shows|uses|gives|in|with|on|at|for|from|of|to)\s(?P<kind>[^\n.,;:!?()=]{1,80})"
_AS_THE_ONE = r"as\s(?:the|our|my)\s(?:(?:only|correct|right|best|final|possible|remaining|valid)\s){0,2}(?:one|answer|option|choice|possibility)"
_REMAINS = (
    r"(?:remains|survives|is\s(?:left|what(?:['’]s|\sis)\sleft|the\sonly\s(?:one|option|choice)\s(?:left|remaining)))"
)
_ONE = r"(?:option|choice|answer|one|statement|possibility|candidate|expression|alternative)"
_RIGHT_ONE = rf"(?:correct|right|possible|valid|remaining|true|viable|suitable|acceptable)\s{_ONE}"
_THAT_FITS = rf"(?:that|which)\s(?:(?:actually|really|fully|correctly)\s)?(?:{_FITS}|is\s(?:correct|right|true|valid|possible|left)|remains)"
_EXCEPTION = (
    r"(?:(?:false|incorrect|wrong|untrue|inaccurate)\s(?:statement|claim|assertion|sentence)|(?:statement|one)\s(?:that|which)\sis\s(?:not\s(?:true|correct)|false|incorrect)"
    r"|exception|odd\sone(?:\sout)?)"
)
"""What questions ask for that ask for no right one."""
_CONCLUDED = (
    re.compile(rf"{_SO}{_NOUN}{_OPTION}\s{_FITS}(?:\s{_WELL})?(?:\s{_OBJECT})?{_ENDS}", re.IGNORECASE),
    re.compile(rf"{_SO}{_NOUN}{_OPTION}\s(?:{_IS_IT}(?:\s{_WELL})?|{_PASSES}){_ENDS}", re.IGNORECASE),
    re.compile(
        rf"{_SO}(?:(?:it(?:['’]s|\shas)?\s)?(?:gotta|got\sto|has\sto|must)\sbe|ist|(?:правильный|верный|подходит)(?:\sвариант|\sответ)?)"
        rf"\s(?:[—–-]\s)?{_NOUN}{_OPTION}(?:\s(?:richtig|korrekt))?{_ENDS}",
        re.IGNORECASE,
    ),
    re.compile(rf"{_SO}{_GONE}{_NOUN}{_OPTION}(?:\s{_AS_THE_ONE})?{_ENDS}", re.IGNORECASE),
    re.compile(rf"{_SO}{_LEAVES}{_NOUN}{_OPTION}(?:\s{_AS_THE_ONE})?{_ENDS}", re.IGNORECASE),
    re.compile(rf"{_SO}(?:only\s)?{_NOUN}{_OPTION}\s{_REMAINS}(?:\s{_AS_THE_ONE})?{_ENDS}", re.IGNORECASE),
    re.compile(
        rf"{_SO}{_NOUN}{_OPTION}\sis\sthe\sonly\s(?:{_RIGHT_ONE}|{_ONE}\s{_THAT_FITS}(?:\s{_WELL})?(?:\s{_OBJECT})?){_ENDS}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_SO}(?:the\s)?only\s(?:{_RIGHT_ONE}|{_ONE}\s{_THAT_FITS}(?:\s{_WELL})?(?:\s{_OBJECT})?)(?:\shere)?\sis\s{_NOUN}{_OPTION}{_ENDS}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_SO}(?:this|that|it|which)\s(?:makes|leaves)\s{_NOUN}{_OPTION}\s(?:as\s)?(?:(?:the|our|my)\s)?(?:(?:only|single|clear)\s)?"
        rf"(?:(?:correct|right|best|true|final|valid)(?:\s{_ONE})?|{_ONE}|one){_ENDS}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:(?:so|thus|hence|therefore|consequently)\b,?\s)(?P<object>[^\n.!?()]{{3,140}})\s\((?:option|choice|answer)\s{_OPTION}\){_ENDS}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?P<shown>[^\n.:;!?()]{{3,140}}?)(?:\s\((?:(?:option|choice|answer)\s)?|,\s(?:which\sis\s)?(?:option|choice|answer)\s\(?)"
        rf"(?P<option>[A-Z])\)?{_ENDS}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:so|thus|hence|therefore|consequently|as\sa\sresult|in\sconclusion),?\s(?P<about>[^\n.:;!?()]{{1,120}}?)\s(?:is|are|was|were|equals|=)\s"
        rf"[$*_]{{0,4}}(?P<option>[^\n;:!?()]{{1,80}}?)[$*_]{{0,4}}{_ENDS}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_SO}(?P<about>(?:the|this|that)\s(?:given\s)?(?:statement|claim|assertion|proposition|hypothesis|sentence))\sis\s[*_]{{0,2}}(?P<option>[^\W\d_]{{2,12}})[*_]{{0,2}}"
        rf"(?:,?\s(?:because|since|as)\s(?P<why>[^\n.;!?]{{1,120}}))?{_ENDS}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_SO}(?P<about>(?:(?:this|that|it|the)(?:\s\w{{1,15}}){{0,3}}?\s(?:(?:is|are)\s(?:called|known\sas|termed|referred\sto\sas)|describes|refers\sto)"
        rf"|the\s(?:correct|right|best|proper)\s(?:term|word|name|match|description)\sis))\s(?P<option>[^\n.,;:!?()]{{1,80}}?){_ENDS}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_SO}(?:since|because|as)\s(?P<reason>[^\n.;!?]{{3,120}}),\s(?P<option>[^\n;:!?]{{3,120}}?){_ENDS}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_SO}the\s(?:only\s)?{_EXCEPTION}(?:\shere)?\sis:?\s(?P<asked>){_NOUN}{_OPTION}{_ENDS}", re.IGNORECASE
    ),
    re.compile(
        rf"{_SO}(?P<asked>)(?:statement\s)?{_NOUN}{_OPTION}\sis\sthe\s(?:only\s)?{_EXCEPTION}{_ENDS}", re.IGNORECASE
    ),
    re.compile(rf"{_SO}(?:(?:the|my)\s)?(?:(?:final|correct|right)\s)?answer\s{_OPTION}{_ENDS}", re.IGNORECASE),
    re.compile(rf"{_SO}{_NOUN}{_OPTION}\s(?:{_SEEMS}){_ENDS}", re.IGNORECASE),
    re.compile(
        rf"{_SO}{_NOUN}{_OPTION}\s(?:answers|describes|explains|completes|fits|matches)\s(?:it|this|that|{_OBJECT})(?:\sbest)?{_ENDS}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_SO}(?:i|we)(?:['’]d|\swould)?\s(?:think|believe|say|guess|go\sfor|opt\sfor|settle\sfor|vote(?:\sfor)?)\s(?:that\s)?{_NOUN}{_OPTION}{_ENDS}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_SO}(?:(?:this|that|it|which)\s(?:gives|yields|means|indicates|suggests|implies|leads\sto|results\sin)|(?:i|we)\s(?:get|obtain|have|find|arrive\sat|reach))\s(?:us\s)?"
        rf"(?:the\s)?(?:option|choice|answer)\s{_OPTION}{_ENDS}",
        re.IGNORECASE,
    ),
    re.compile(rf"{_SO}only\s{_NOUN}{_OPTION}\s{_FITS}(?:\s{_WELL})?(?:\s{_OBJECT})?{_ENDS}", re.IGNORECASE),
    re.compile(rf"{_SO}(?:only\s)?{_NOUN}{_OPTION}\s{_SAYS_IT}\s(?:it|{_OBJECT}){_ENDS}", re.IGNORECASE),
    re.compile(rf"{_SO}{_NOUN}{_OPTION},?\s{_SURELY}{_ENDS}", re.IGNORECASE),
    re.compile(rf"{_SO}{_NOUN}{_OPTION}\sis\sthe\sonly\s{_ONE}\s{_OF_ITS_KIND}{_ENDS}", re.IGNORECASE),
    re.compile(rf"{_SO}only\s{_NOUN}{_OPTION}\s{_OF_ITS_KIND}{_ENDS}", re.IGNORECASE),
    re.compile(rf"{_SO}{_GONE_FIRST}{_NOUN}{_OPTION}(?:\s{_AS_THE_ONE})?{_ENDS}", re.IGNORECASE),
    re.compile(
        rf"{_SO}(?:none|neither)\sof\s(?P<gone>[^\n.:;!?]{{1,80}})[;,]\s(?:but\s|only\s)?{_NOUN}{_OPTION}\s(?:is|does|has|can){_ENDS}",
        re.IGNORECASE,
    ),
)
"""Sentences that are nothing else, so that nothing in them takes it back or lets another option stand."""
_CONCLUDED_ELSEWHERE = tuple(re.compile(sentence, re.IGNORECASE) for sentence in languages.sentences(_OPTION, _ENDS))
_LABEL = r"[(（\[*]{0,3}(?P<option>[A-Z]|[甲乙丙丁戊]|[①-⑩])[)）\]*]{0,3}"
_CHOICE = r"(?:选项|選項|选|項|项)?"
_NEUTRAL = r"(?:可见|[^A-Za-z甲乙丙丁戊①-⑩不没未非无否也可能或若如都除错误假吗呢另还又怎]){0,16}"
"""Before what is said: no other option, no doubt, no denial."""
_CONCLUDED_CJK = (
    re.compile(
        rf"{_NEUTRAL}{_CHOICE}{_LABEL}{_CHOICE}(?:最|正好|恰好|完全|才|就)?(?:符合|满足|滿足|成立|吻合|合适|恰当|适合|合理|是答案|为答案)"
        rf"[^A-Z不也或但吗都除?？]{{0,12}}?{_ENDS}"
    ),
    re.compile(
        rf"{_NEUTRAL}(?:对应|對應|符合|匹配|吻合)(?:的)?(?:是|于|於|为)?{_CHOICE}{_LABEL}(?:选项|選項|项|項)?{_ENDS}"
    ),
    re.compile(rf"{_NEUTRAL}[与與和跟同]{_CHOICE}{_LABEL}{_CHOICE}(?:相符|一致|吻合|对应|對應|相同|匹配){_ENDS}"),
    re.compile(
        rf"(?:所以|因此|故|综上)?[，,]?(?P<option>第[一二三四五六七八九十\d]{{1,2}}(?:个|個)?(?:选项|選項|项|項))(?:是|为|為)?(?:正[确確]|[对對])的?"
        rf"(?:答案|选项|選項)?{_ENDS}"
    ),
    re.compile(
        rf"(?:(?:所以|因此|故|综上(?:所述)?|那么)[，,]?(?:应该|应当|应|就|即)?是|(?:所以|因此|故|综上)?[，,]?(?:应该|应当|应|就|即)[是为]?)"
        rf"{_CHOICE}{_LABEL}{_CHOICE}了?{_ENDS}"
    ),
    re.compile(
        rf"(?:我们?(?:认为|覺得|觉得|猜|想|判断)|(?:很|非常)?(?:明显|显然|显而易见)|不是(?P<gone>[^\n。？?]{{1,20}}?)[，,](?:而|应该|应当|应))[，,]?(?:应该|应当|应|就|即)?是"
        rf"{_CHOICE}{_LABEL}{_CHOICE}{_ENDS}"
    ),
    re.compile(
        rf"(?:我们?(?:认为|觉得)|应该|应当|应|就)?是{_CHOICE}{_LABEL}{_CHOICE}[，,]?(?:而)?不是(?P<gone>[^\n。？?]{{1,20}}?){_ENDS}"
    ),
    re.compile(
        rf"(?:所以|因此|故|综上(?:所述)?|那么)[，,]?(?P<about>[^A-Za-z\n。不没未非无否可或若如除]{{0,30}}?)[是为](?P<option>[^\n，。,.?？]{{1,40}}?)了?{_ENDS}"
    ),
    re.compile(
        rf"(?:したがって|よって|ゆえに|だから|つまり)?[、,]?(?:選択肢)?{_LABEL}(?:だけ)?[がは](?:最も)?(?:正解|正しい|適切|最適|答え|当てはまる|該当する)"
        rf"(?:です|だ|である|となる|になる)?{_ENDS}"
    ),
    re.compile(
        rf"(?:따라서|그러므로|그래서|결국)?,?\s?(?:선택지\s|보기\s)?{_LABEL}\s?(?:번)?(?:이|가|만이)\s(?:정답|맞|옳|적절|적합)(?:이다|입니다|습니다|합니다|하다|다)?{_ENDS}"
    ),
    re.compile(rf"(?:إذن\s|لذلك\s)?(?:الخيار|الإجابة|الاختيار)\s{_LABEL}\s(?:هو\s|هي\s)?(?:ال)?صحيحة?{_ENDS}"),
    re.compile(rf"(?:इसलिए\s)?(?:विकल्प\s)?{_LABEL}\s(?:सही|ठीक)(?:\s(?:उत्तर|विकल्प))?\sहै[।\s]{{0,2}}"),
    re.compile(rf"(?:তাই\s)?(?:বিকল্প\s)?{_LABEL}\s(?:সঠিক|ঠিক)(?:\s(?:উত্তর|বিকল্প))?[।\s]{{0,2}}"),
)
_MAY_CONCLUDE = Scan(
    r"(?is)\b(?:only|(?:seems|looks|appears|sounds).|should.be|(?:has|ought).to.be|likely|probably|likeliest|(?:option|choice|answer).\W{0,3}[a-z]\W{0,4}\z|for.\W{0,3}[a-z]\W{0,4}\z|vote|(?:false|incorrect|wrong|untrue|inaccurate).(?:statement|claim|assertion|sentence)|so|thus|hence|therefore|consequently|as.a.result|in.conclusion|(?:statement|claim|assertion|proposition|hypothesis|sentence|match|term|word|name|description|exception|one|out|true|correct|false).is|because|since|as|exception|odd.one|answer..?.?[a-z]\W{0,4}\z|called|known.as|termed|referred.to|refers.to)\b|\([a-z]\)[.!*_\s]{0,4}\z|answers|describes|explains|represents|captures|completes|reflects|expresses|summari|illustrates|states|defines|correctly|accurately"
    r"|\b(?:obviously|clearly|certainly|definitely|undoubtedly|of.course|for.(?:sure|certain)|doubt|think|believe|guess|suppose|say|confident|exclud|leaving|none|neither|removed|cross|ruled)\b|\((?:option|choice|answer).|fits|works|matches|wins|qualifies|suffices|satisfies|meets|fulfil|holds|applies|sense"
    r"|is.(?:(?:clearly|indeed|definitely).)?(?:it|the.(?:one|winner|match|best)|my|what)|leaves|makes|left|remain|survives|eliminat|正确|正確|对的|gotta|(?:got.to|has.to|must).be"
    r"|(?:\b(?:es|est|ist)|é|è).|passt|stimmt|convient|encaja|подходит|верн|верен|правил|符合|满足|滿足|成立|吻合|合适|恰当|适合|合理"
    r"|认为|觉得|明显|显然|显而|不是|所以|因此|那么|综上|故|答案|对应|對應|匹配|相符|一致|相同|应|就|即|正解|正しい|適|答え|当てはまる|該当|정답|맞|옳|적절|적합|صحيح|सही|ठीक|সঠিক|ঠিক"
)
"""A word of each of these; most last sentences have none."""
_SPOILS = re.compile(
    r"\b(?:too|also|well|badly|poorly|part(?:ly|ially)|only|but|though|although|if|when|while|unless|except|less|than|not|never|no"
    r"|and|or|nor|wrong|incorrect|false)\b|n['’]t\b",
    re.IGNORECASE,
)
"""In what an option is said to fit."""
_DOUBTS = re.compile(
    r"\b(?:not|never|no|nor|neither|or|either|if|unless|except|whether|might|may|could|wrong|incorrect|false)\b|n['’]t\b",
    re.IGNORECASE,
)
"""Before an option's text in a sentence that ends in it."""
_OPEN_REASON = re.compile(r"\b(?:or|either|if|unless|whether|might|may|could|maybe|perhaps)\b", re.IGNORECASE)
"""In a reason that leaves open whether what follows from it holds; what it denies is another matter."""
_SPOILS_VERDICT = re.compile(r"\b(?:but|however|though|although|if|unless|except|or|actually)\b", re.IGNORECASE)
_MIN_OPTIONS_WITH_EXCEPTION = 3
"""Of two, what is called wrong may be told of to say that the other is right."""
_SPACE = re.compile(r"\s+")
_LETTER = re.compile(r"(?<![\w'’])[A-Z](?![\w'’])")
_FITS_TOO = re.compile(
    rf"(?<![\w'’-])[(\[*]{{0,3}}(?P<option>\w{{1,8}})[)\]*]{{0,3}}\s(?:also\s|{_FITS}\b)", re.IGNORECASE
)


def closing_words(clues: Clues, params: MultipleChoiceParams, options: Options) -> Found | None:
    """The option of a last sentence that says nothing but that it is the one, if no other is said to be that."""
    text = clues.scene.text
    tail = text[-_SENTENCE_CHARS:].encode("utf-8", "replace")
    if not (_MAY_CONCLUDE.is_in(tail) or languages.MAY_SAY.is_in(tail)):
        return None
    start = _last_sentence(text, len(text))
    concluded = _concluded(text, start, len(text), options)
    if concluded is None:
        return None
    label, span = concluded
    shown = text[slice(*span)]
    if _has_rival(text, start, label, options):
        return Found(None, "conflicting_answers", "statement", None, (shown,))
    return Found(frozenset({label}), "found", "statement", span, (shown,))


def _last_sentence(text: str, end: int) -> int:
    """Where the sentence that ends there begins, as far as `_SENTENCE_CHARS` show."""
    first, last = max(0, end - _SENTENCE_CHARS - 1), end - 1
    return max(first, 0, *[place + len(stop) for stop in _STOPS if (place := text.rfind(stop, first, last)) >= 0])


def _concluded(text: str, start: int, end: int, options: Options) -> tuple[str, tuple[int, int]] | None:
    sentence = text[start:end]
    if end - start > _SENTENCE_CHARS or not _may_name(sentence, options):
        return None
    for pattern in _patterns(sentence):
        found = pattern.fullmatch(text, start + len(sentence) - len(sentence.lstrip(_AROUND)), end)
        label = found and _option(found, options)
        if found and label and not _is_spoiled(found, label, options):
            return label, found.span("option")
    return None


def _may_name(sentence: str, options: Options) -> bool:
    """Whether an option's label or text may stand somewhere in a sentence; a small letter is a word."""
    if not options.are_plain or not sentence.isascii() or "\\" in sentence or "_" in sentence:
        return True
    if any(map(options.label, _LETTER.findall(sentence))) or (options.have_digits and _DIGIT.search(sentence)):
        return True
    shown = form_of(sentence)
    return any(form in shown for form in options.forms) or _ORDINAL.search(shown) is not None


_DIGIT = re.compile(r"\d")
_ORDINAL = re.compile("option|choice|answer|alternative")
"""In all names of options by their places."""


def _patterns(sentence: str) -> Iterator[re.Pattern[str]]:
    yield from _CONCLUDED
    if languages.MAY_SAY.is_in(sentence.encode("utf-8", "replace")):
        yield from _CONCLUDED_ELSEWHERE
    if not sentence.isascii():
        yield from _CONCLUDED_CJK


def _option(found: re.Match[str], options: Options) -> str | None:
    """The option it is about, by its bare label or its whole text; a small letter is a word."""
    shown = found["option"]
    if "about" in found.re.groupindex:
        return options.by_text(shown)
    if "reason" in found.re.groupindex:
        return options.by_text(shown) if any(map(str.isalpha, shown)) else None
    if options.label(shown) and not shown.islower():
        return options.label(shown)
    if not shown.isascii() and (labels := options.named(shown, is_declared=False)) and len(labels) == 1:
        return next(iter(labels))
    return options.by_text(shown)


def _is_spoiled(found: re.Match[str], label: str, options: Options) -> bool:
    """Whether the sentence says something else of the option, or of another one."""
    groups = ("object", "kind", "gone", "shown", "about", "reason")
    told, kind, gone, shown, about, reason = map(found.groupdict().get, groups)
    if "asked" in found.re.groupindex and len(options.texts) < _MIN_OPTIONS_WITH_EXCEPTION:
        return True
    if reason:
        return _OPEN_REASON.search(reason) is not None or any(form in form_of(reason) for form in options.forms)
    if (why := found.groupdict().get("why")) and _SPOILS_VERDICT.search(why):
        return True
    if about:
        return _DOUBTS.search(about) is not None or any(form in form_of(about) for form in options.forms)
    if shown:
        before = _without_text(shown, label, options)
        return before is None or _DOUBTS.search(before) is not None
    if gone and label in map(options.label, _LETTER.findall(gone)):
        return True
    if kind and SAYS_AGAINST.search(kind):
        return True
    told = told or kind
    if not told:
        return False
    return _SPOILS.search(told) is not None or any(options.label(letter) for letter in _LETTER.findall(told))


def _without_text(shown: str, label: str, options: Options) -> str | None:
    """What stands before the option's text, with which a phrase ends; None if it does not."""
    starts = (0, *(space.end() for space in _SPACE.finditer(shown)))
    return next((shown[:start] for start in starts if options.by_text(shown[start:]) == label), None)


def _has_rival(text: str, start: int, label: str, options: Options) -> bool:
    """Whether what stands before the last sentence says of another option that it fits, or may."""
    if any(options.label(found["option"]) not in (None, label) for found in _FITS_TOO.finditer(text, 0, start)):
        return True
    if allows_another(text[max(0, start - BESIDE_CHARS) : start], {label}, options):
        return True
    end = len(text[:start].rstrip())
    for _ in range(_MAX_SENTENCES):
        if end <= 0:
            return False
        begin = _last_sentence(text, end)
        concluded = _concluded(text, begin, end, options)
        if concluded is not None and concluded[0] != label:
            return True
        end = len(text[:begin].rstrip())
    return False


_MAX_SENTENCES = 16
"""Before the last one, that are looked at for another option."""
