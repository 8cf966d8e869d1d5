"""Decides whether the first word of a response is a verb.

The decision comes from a list of common English verbs and their regular forms. The list leaves out forms in -s, because
at the beginning of a text they are nouns ("Plans").

The published check asks a part-of-speech tagger that was trained on newspapers. It takes most capitalised base forms at
the beginning for names, unless an object follows ("Run now", but "Write it down"). No package that can be installed
holds the weights of this tagger. So `opens_as_tagged` reproduces what was observed in verdicts of that check, and in a
tagger of the same kind.
"""

from collections.abc import Sequence

from verifiers.rules.instruction_following.constraints import word_set

_BASES = """
abandon absorb accelerate accept access accommodate accompany accomplish account accumulate achieve acknowledge acquire
act activate adapt add address adhere adjust administer admire admit adopt advance advertise advise advocate affect
affirm afford agree aid aim align allocate allow alter amend analyze analyse announce answer anticipate apologize appeal
appear apply appoint appreciate approach approve argue arise arm arrange arrive articulate ask aspire assemble assert
assess assign assist associate assume assure attach attack attain attempt attend attract audit authorize automate avoid
await award bake balance ban bathe be bear beat become beg begin behave believe belong bend bet bid bind bite blame blend
bless block blow boil book boost borrow bother bounce brace brainstorm break breathe brew bring broaden browse brush build
burn burst bury buy calculate call calm cancel capture care carry carve cast catch categorize cause caution cease
celebrate challenge change charge chart chase chat check cheer cherish chew choose chop cite claim clarify clean clear
click climb cling close coach code collaborate collect combine come comfort command commence comment commit communicate
compare compel compete compile complain complete comply compose comprehend compute conceive concentrate conclude conduct
confess configure confirm confront connect conquer consider consist consolidate construct consult consume contact contain
contemplate continue contribute convert convey convince cook cool cooperate coordinate copy correct count cover craft
crawl create criticize cross cry cultivate cure cut dance dare deal debate debug decide declare decline decorate
decrease dedicate deduce define delay delegate delete deliver delve demand demonstrate deny depart depend depict
describe deserve design desire destroy detail detect determine develop devise devote diagnose dial dice die dig digest
dine direct disagree disappear discard discover discuss display dissolve distinguish distribute dive divide do document
donate doubt download draft drag drain draw dream dress drink drip drive drop dry duplicate earn eat edit educate
elaborate elect elevate eliminate embark embrace emerge emit emphasize employ empower enable encounter encourage end endure
enforce engage enhance enjoy enlist ensure enter entertain establish estimate evaluate evolve examine exchange exclude
execute exercise exhibit exist expand expect experience experiment explain explore export expose express extend extract
face facilitate fade fail fall familiarize fasten favor fear feed feel fetch fight file fill filter finalize find finish
fit fix flip float flow fly focus fold follow forbid force forecast forget forgive form format formulate foster
found frame free freeze frost fry fulfill fund furnish gain gather gaze generate get give glance go govern grab grant
grasp greet grill grind grow guarantee guard guess guide handle hang happen harness harvest hate haunt have head heal hear
heat help hesitate hide highlight hike hire hit hold honor hop hope host hug hunt hurry identify ignite ignore illuminate
illustrate imagine implement imply import impose impress improve include incorporate increase indicate induce indulge infer
influence inform inhale inherit initiate inject innovate inquire insert insist inspect inspire install instruct integrate
intend interact interpret interrupt introduce invade invent invest investigate invite involve iron isolate jog join joke
jot judge juggle jump justify keep kick kill kiss kneel knit knock know label land laugh launch lay lead lean leap learn
leave lend let leverage lie lift light limit link list listen live load locate lock log look lose love lower maintain make
manage manipulate manufacture map march marinate mark marry master match maximize measure meditate meet melt memorize
mention merge mind mine minimize miss mix model modify monitor motivate mount mourn move multiply navigate need neglect
negotiate nominate note notice notify nourish number nurture obey object observe obtain occupy occur offer open operate
oppose optimize order organize originate overcome overlook own pack paint pair park participate pass paste pat pause pay
peel perceive perform permit persist persuade pick pinpoint pitch place plan plant play plead please pledge plot plug
plunge point polish ponder pop portray pose possess post pour practice practise praise pray predict prefer prepare
present preserve press pretend prevail prevent print prioritize proceed process proclaim procure produce progress
promise promote prompt pronounce propose protect protest prove provide publish pull pump punish purchase pursue push put
qualify question quit quote race raise ramble rank rate reach react read realize rearrange reason recall receive
recite recognize recommend reconsider record recover recruit recycle reduce refer refine reflect refrain refresh refuse
regard register regret regulate reinforce reject rejoice relate relax release rely remain remember remind remove render
renew rent repair repeat rephrase replace reply report represent request require rescue research resemble reserve resist
resolve respect respond rest restart restore restrict result retain retell retire retreat retrieve return reveal reverse
review revise revisit reward rewrite ride ring rinse rise roar roast roll rotate rub ruin rule run rush sail salute sample
satisfy save savor say scale scan scatter schedule scoop score scramble scrape scratch scream scroll seal search season
seat secure see seek seem seize select sell send sense separate serve set settle sew shake shape share sharpen shave shed
shift shine ship shoot shop shorten shout show shower shrink shut sift sign signal simmer simplify simulate sing sink sip
sit sketch ski skip slap sleep slice slide slip smell smile smoke snap soak soar solve sort sound spare spark speak specify
spell spend spill spin split spoil spot spray spread sprinkle squeeze stack stand stare start state stay steal steer step
stick stimulate sting stir stitch stop store strain streamline strengthen stress stretch strike strip strive stroll
structure struggle study submit substitute subtract succeed suffer suggest suit sum summarize supervise supply support
suppose surprise surround survey survive suspect sustain swallow swap swear sweep swim swing switch tackle take talk tap
target taste teach tear tell tempt tend terminate test thank think thrive throw tie tighten tilt toast toggle tolerate
toss touch tour trace track trade train transcribe transfer transform transition translate transmit trap travel treat
trim trust try tuck tune turn type uncover understand undertake undo unfold unify unite unleash unlock unpack unplug
unravel unveil unwind update upgrade upload urge use utilize validate value vary venture verify view visit visualize
volunteer vote wait wake walk wander want warm warn wash waste watch water wave wear weave weigh welcome whip whisk
whisper win wind wipe wish withdraw withstand witness wonder work worry wrap write yell yield zoom
"""
_OTHER_FORMS = """
am is are was were been being has had having does did done doing ate eaten began begun bent bet bit bitten bled blew blown
bought broke broken brought built burnt came caught chose chosen clung crept dealt drank drawn drew driven drove drunk dug
dying fallen fed fell felt flew flown forbade forgave forgot forgotten fought found froze frozen gave given gone gotten grew
grown heard held hid hidden hung kept knew known laid led left lent lit lost lying made meant met paid ran ridden risen rode
rose said sang sat saw seen sent shaken shone shook shot shown slept slid sold sought spent spoke spoken sprang sprung spun
stole stolen stood struck stuck stung sung sunk swam swept swore sworn swum swung taken taught thought threw thrown told took
tore torn tying understood underwent went wept woke woken won wore worn wound wove woven written wrote
"""
_MODALS = frozenset({"can", "could", "may", "might", "must", "shall", "should", "will", "would", "ought"})
_VOWELS = frozenset("aeiou")


def _forms(base: str) -> tuple[str, ...]:
    """The regular past form and the form in -ing, also with a doubled consonant where that is possible."""
    if base.endswith("e"):
        return base[:-1] + "ing", base + "d"
    doubled = base + base[-1]
    past = base[:-1] + "ied" if base.endswith("y") and base[-2:-1] not in _VOWELS else base + "ed"
    if base[-1] not in "wxyaeiou" and base[-2:-1] and base[-2] in _VOWELS:
        return base + "ing", past, doubled + "ing", doubled + "ed"
    return base + "ing", past


_BASE_FORMS = word_set(_BASES)
_VERBS = _BASE_FORMS | word_set(_OTHER_FORMS)
_VERBS |= frozenset(form for base in _BASE_FORMS for form in _forms(base))


def is_verb(word: str, modals: bool = False) -> bool:
    """Whether the word, contracted or not, is a form of a common verb. With `modals`, "can" and the like count, too."""
    small = word.lower().replace("’", "'")
    if small.endswith("n't"):
        return is_verb({"ca": "can", "wo": "will", "sha": "shall"}.get(small[:-3], small[:-3]), modals)
    return small in _VERBS or (modals and small in _MODALS)


_OBJECTS = word_set("the a your my his her its our their it them me him us you that")
_NEVER_NAMES = word_set(
    """
amend apologize appear approve assume attend authorize be begin categorize choose clarify come consider criticize do
eliminate emphasize expect extend get give go have identify lend let look lose love please qualify raise realize recognize
recommend remove see seek seize send simplify specify spend succeed summarize take tend think throw try turn unify wait
watch wear write
"""
)
_TAKEN_FOR_NAMES = word_set(
    """
ate began begun bent bet bit blew blown broke burnt came chosen clung crept dealt drank drawn drew drunk dug fallen fed
fell felt flew flown forbade forgave forgot forgotten fought froze frozen gave gone gotten grew grown hid hidden hung kept
knew laid led lent lit meant met ran ridden risen rode said sang sat saw seen sent shaken shone shook shot shown slept slid
spent spoke spoken sprang sprung spun stole stolen stood struck stuck stung sung sunk swam swept swore swum swung taught
threw thrown told took tore understood underwent went wept woke woken won wore wound woven
"""
)


def opens_as_tagged(tokens: Sequence[str]) -> bool:
    """Whether the published check takes the first token for a verb, as far as its behaviour is known."""
    if not tokens:
        return False
    small = tokens[0].lower()
    if small in _NEVER_NAMES:
        return True
    if small in _BASE_FORMS and tokens[0][0].isupper():
        return len(tokens) > 1 and tokens[1].lower() in _OBJECTS
    return small not in _TAKEN_FOR_NAMES and is_verb(small)
