r"""Which responses of a group give the same answer, by the equality of a verifier: 1/2, 0.5 and \frac12 are one answer
for `math`.

    responses ──► answers          each is judged against a reference that is there only so that its answer is found
    answers ──► keys               answers with keys of the verifier's are equal if these are: nobody compares them
    answers ──► pairs              the most frequent answer is the reference for all others, and then the most frequent of
                                   those that have no ballot yet; what equals it is compared with the others that do
    pairs ──► ballots              answers that all equal each other: who votes for one of them votes for the ballot
    ballots ──► classes            an answer belongs to the largest of its ballots

All groups of a request share the batches of comparisons, of which each group has so many at most for each of its responses.
Answers whose comparison came to no end, or was not made, are `unsettled`: they may be of the class of another. Equality is
not always transitive: 5 equals 5 cm and 5 m. Such an answer votes for both, and makes them no class: only what equals all
the answers of a ballot is of it. Who is the reference depends on the answers alone, never on the order of the responses.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

import msgspec
from pydantic import ValidationError

from service.groups.schemas import Group
from service.scoring.prepared_item import decoded_params
from service.wire import Result, ScoreItem, encode
from verifiers.base import MAX_DETAIL_TEXT_CHARS, InvalidItem
from verifiers.code import told
from verifiers.commitment.latex import untexted
from verifiers.commitment.unanswerable import evades, gives_none, leaves_open, says_none
from verifiers.math.solutions import unanswered
from verifiers.own_answers import STAND_IN
from verifiers.pace import Pace
from verifiers.registry import Registry

Pair = tuple[str, str]
"""A reference, and an answer that is compared with it."""
Judge = Callable[[Sequence[ScoreItem]], Awaitable[Sequence[Result]]]
"""Judges items that are not responses of a model by themselves."""

CODE: Final = "code"
"""The verifier whose answers are the outputs of programs, for the inputs in the group's reference."""
STAND_INS: Final[Mapping[str, Any]] = {
    CODE: STAND_IN,
    "math": STAND_IN,
    "numeric": 0,
    "qa": "0",
    "multiple_choice": None,
    "chemistry": "[C]",
    "expression": "0",
}
"""The verifiers whose equality makes classes, and the reference with which answers are found, whatever the parameters: [C]
is a carbon atom in formulas, SMILES and SELFIES. None: the first option."""
QA_METRICS: Final[Mapping[str, Any]] = {"exact": "0", "bool": True, "date": "2000-01-01", "list": "0"}
"""The metrics of `qa` by which two answers are equal or not."""
MAX_COMPARED_CHARS: Final = 10_000
"""Longer answers are the same only if their texts are."""
MAX_INPUT_BYTES: Final = 200_000
"""More inputs of programs are not read on the event loop."""
MAX_KEY_CHARS: Final = 100
_WITNESSES: Final = 4
"""Of more than twice as many answers that equal a reference, each is compared with the most frequent of these only."""
MAX_COMPARISONS: Final = 12
"""The most comparisons for each response of a group: all pairs, if there are up to 23."""
_LISTED: Final = (CODE, "multiple_choice")
"""The verifiers whose answers are outputs or labels, not words of the model."""
_OF_UNEQUAL: Final = ("edit_distance",)
"""Parameters that score answers which are not equal: classes have no use for these."""
WRONG_FORM: Final = "wrong_form"
_NO_ANSWER: Final = "no_answer"
_SILENT: Final = "no_response"
"""Why a list of messages of others alone is invalid: it has no answer."""
_UNANSWERABLE: Final = "unanswerable"
_BATCH: Final = 4_096
"""Comparisons that are judged together."""


@dataclass(slots=True)
class Partition:
    """The answers of one group, and their classes so far. Positions are those of the responses."""

    group: Group
    answers: list[str | None]
    """The answer of each response; None: it gives none."""
    results: Sequence[Result]
    """How each response was read."""
    ballots: list[list[int]] = field(default_factory=list)
    """The positions of answers that all equal each other; the largest first, and of equal ones the one that came first.
    An answer that equals several which differ is in several ballots."""
    classes: list[list[int]] = field(default_factory=list)
    """The positions of each class, which no two share, in the same order."""
    unsettled: set[int] = field(default_factory=set)
    """Positions whose answer may be that of another class, too."""
    failed: set[int] = field(default_factory=set)
    """Positions whose answer could not be found."""
    unfit: set[int] = field(default_factory=set)
    """Positions whose answer the verifier does not take for a reference: it is right for no task."""
    vague: set[int] = field(default_factory=set)
    """Positions whose answer may be a refusal, a hedge, an evasion or a remark. It may be a title, too: not wrong, and never right."""
    withheld: dict[int, str] = field(default_factory=dict)
    """Positions whose answer does not count, and why: it says that there is none, or has not the form that is asked for."""
    denials: int = 0
    """How many of these say that the question has no answer. It may be right, so that fewer others are no majority."""
    message: str = ""
    """Why the group cannot be judged."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """The parameters of the group, decoded, but for those of answers that are not equal."""
    params_json: msgspec.Raw = field(default_factory=msgspec.Raw)
    _open: dict[str, list[int]] = field(default_factory=dict)
    """The positions of each answer that can be compared; the most frequent first."""
    _written: Mapping[str, str] = field(default_factory=dict)
    _keyed: set[str] = field(default_factory=set)
    """Answers with keys: no two of them are equal."""
    _equals: dict[str, set[str]] = field(default_factory=dict)
    """The answers that equal each answer, and itself."""
    _answered: set[frozenset[str]] = field(default_factory=set)
    """The pairs whose comparison has a result."""
    _unplaced: list[str] = field(default_factory=list)
    """Answers without a ballot."""
    _incomparable: list[list[int]] = field(default_factory=list)
    """The ballots of answers that are too long to be compared."""
    _latest: str | None = None
    """The reference whose ballot is being made."""
    _asked: int = 0

    def withhold(self, answers: Collection[str], reason: str) -> None:
        """Leave out these answers."""
        self.withheld |= {at: reason for at, answer in enumerate(self.answers) if answer in answers}
        self.answers = [None if at in self.withheld else answer for at, answer in enumerate(self.answers)]

    def set_blanks_aside(self) -> None:
        """Leave out the answers that say in their place that there is none. Where the parameters make that an answer, all
        that say so give the same.
        """
        answers = {answer for answer in self.answers if answer is not None}
        is_math, is_qa = self.group.verifier == "math", self.group.verifier == "qa"
        blanks = {answer for answer in answers if gives_none(answer) or (is_math and unanswered(untexted(answer)))}
        if is_qa and self.params.get("metric", "exact") == "exact":
            vague = {answer for answer in answers if leaves_open(answer) or unanswered(untexted(answer))}
        else:
            vague = {answer for answer in answers if evades(answer)}
        denials = {answer for answer in blanks if says_none(text := untexted(answer), text)}
        if self.params.get("unanswerable") is True:
            self.answers = [_UNANSWERABLE if answer in denials else answer for answer in self.answers]
            blanks -= denials
        else:
            self.denials = sum(answer in denials for answer in self.answers)
        self.withhold(blanks, _NO_ANSWER)
        self.vague = {at for at, answer in enumerate(self.answers) if answer in vague}

    def first_positions(self) -> dict[str, int]:
        """The first position of each answer."""
        positions: dict[str, int] = {}
        for at, answer in enumerate(self.answers):
            if answer is not None:
                positions.setdefault(answer, at)
        return positions

    def begin(self, texts: Mapping[str, str], keys: Mapping[str, Hashable]) -> None:
        """Start with a ballot for each answer that is too long to be compared. `texts` holds the others, each written
        as a response; `keys` the keys of those that have one.
        """
        representatives: dict[Hashable, str] = {}
        for at, answer in sorted(enumerate(self.answers), key=lambda numbered: numbered[1] or ""):
            if answer is not None:
                name = representatives.setdefault(keys[answer], answer) if answer in keys else answer
                self._open.setdefault(name, []).append(at)
        incomparable = [answer for answer in self._open if answer not in texts and answer not in keys]
        self.ballots = [self._open.pop(answer) for answer in sorted(incomparable)]
        self._incomparable = [*self.ballots]
        names = sorted(self._open, key=lambda answer: (-len(self._open[answer]), answer))
        self._open = {answer: self._open[answer] for answer in names}
        self._written, self._keyed = texts, {answer for answer in names if answer in keys}
        self._equals = {answer: {answer} for answer in names}
        self._unplaced = names

    def pairs(self) -> list[Pair]:
        """The references, each with an answer that is to be compared with it now; none if all is known that will be."""
        pairs = self._closing_pairs()
        while self._unplaced and not pairs:
            self._latest = latest = self._unplaced.pop(0)
            pairs = self._ordered((latest, other) for other in self._open if other != latest) or self._closing_pairs()
        self._asked += len(pairs)
        if self._latest is not None and self._asked > MAX_COMPARISONS * len(self.answers):
            unknown = [self._latest, *self._unplaced]
            self.unsettled.update(at for answer in unknown for at in self._open[answer])
            self.ballots += [self._open[answer] for answer in unknown]
            self._unplaced, self._latest, pairs = [], None, []
        return pairs or self._untried()

    def _untried(self) -> list[Pair]:
        """The answer that may be the majority with itself, if it equals no other one: nan does not equal nan."""
        largest = min(self.ballots, key=lambda ballot: (-len(ballot), ballot), default=[])
        alone = [answer for answer in self._open if self._equals[answer] == {answer} and answer not in self._keyed]
        return self._ordered((answer, answer) for answer in alone if self._open[answer] == largest)

    def _closing_pairs(self) -> list[Pair]:
        """What is to be compared of the equals of the latest reference; if nothing is, its ballot is made."""
        if self._latest is None:
            return []
        equals = [answer for answer in self._open if answer in self._equals[self._latest] and answer != self._latest]
        witnesses = equals[:_WITNESSES] if len(equals) > 2 * _WITNESSES else equals
        pairs = self._ordered((first, other) for at, first in enumerate(witnesses) for other in equals[at + 1 :])
        if not pairs:
            core, ballot = {self._latest, *witnesses}, [self._latest]
            for answer in equals:
                if core.intersection(ballot) <= self._equals[answer]:
                    ballot.append(answer)
            self.ballots.append(sorted(at for answer in ballot for at in self._open[answer]))
            self._unplaced = [answer for answer in self._unplaced if answer not in ballot]
            self._latest = None
        return pairs

    def _is_unfit(self, answer: str) -> bool:
        return self._open[answer][0] in self.unfit

    def _ordered(self, pairs: Iterable[Pair]) -> list[Pair]:
        """Those of the pairs that have no result, with the reference first: what is no reference is the other."""
        unknown = [pair for pair in pairs if frozenset(pair) not in self._answered and not self._keyed.issuperset(pair)]
        turned = [pair[::-1] if self._is_unfit(pair[0]) else pair for pair in unknown]
        return [pair for pair in turned if not self._is_unfit(pair[0])]

    def question(self, pair: Pair) -> str:
        """The response that is judged against the first of a pair."""
        return self._written[pair[1]]

    def take(self, results: Mapping[Pair, Result]) -> None:
        """Note how answers compare with their references."""
        of_reference: dict[str, dict[str, Result]] = {}
        for (reference, answer), result in results.items():
            of_reference.setdefault(reference, {})[answer] = result
        for reference, row in of_reference.items():
            itself = row.get(reference)
            is_unequal = itself is not None and itself.status == "ok" and itself.score != 1.0
            if is_unequal or all(result.status == "invalid" for result in row.values()):
                self.unfit.update(self._open[reference])
                continue
            for answer, result in row.items():
                self._answered.add(frozenset((answer, reference)))
                if result.status != "ok":
                    self.unsettled.update(self._open[answer], self._open[reference])
                elif result.score == 1.0:
                    self._equals[answer].add(reference)
                    self._equals[reference].add(answer)

    def finish(self) -> None:
        """Put the ballots in order, and make classes of them. Long answers may be equal, which matters if all of them would
        be as many as the largest class of others.
        """
        largest = max((len(ballot) for ballot in self.ballots if ballot not in self._incomparable), default=0)
        if len(self._incomparable) > 1 and sum(map(len, self._incomparable)) >= largest:
            self.unsettled.update(*self._incomparable)
        placed: set[int] = set()
        for ballot in sorted(self.ballots, key=len, reverse=True):
            if members := [at for at in ballot if at not in placed]:
                self.classes.append(members)
                placed.update(members)
        self.ballots.sort(key=lambda ballot: (-len(ballot), ballot))
        self.classes.sort(key=lambda positions: (-len(positions), positions))


class Classes:
    """Makes the classes of groups."""

    def __init__(self, registry: Registry, judge: Judge, judge_anew: Judge) -> None:
        """`judge_anew` takes no verdict from a cache."""
        self._registry = registry
        self._judge, self._judge_anew = judge, judge_anew
        self.comparisons = 0

    async def of(self, groups: Sequence[Group]) -> list[Partition]:
        """The classes of each group."""
        pace = Pace()
        partitions = []
        for group in groups:
            partitions.append(self._partition(group))
            await pace.keep()
        await self._read([partition for partition in partitions if not partition.message])
        await self._compare([partition for partition in partitions if not partition.message])
        for partition in partitions:
            partition.finish()
            await pace.keep()
        return partitions

    async def _compare(self, partitions: Sequence[Partition]) -> None:
        """Compare the answers of each group, in rounds until none has pairs that are still to be compared."""
        pace = Pace()
        while partitions:
            open_pairs: dict[int, tuple[Partition, list[Pair]]] = {}
            for partition in partitions:
                if pairs := partition.pairs():
                    open_pairs[id(partition)] = partition, pairs
                await pace.keep()
            partitions = [partition for partition, _ in open_pairs.values()]
            items: list[ScoreItem] = []
            for partition, pairs in open_pairs.values():
                references = {name: msgspec.Raw(encode(_reference(partition, name))) for name, _ in pairs}
                items += [self._item(partition, partition.question(pair), references[pair[0]]) for pair in pairs]
                await pace.keep()
            self.comparisons += len(items)
            results: list[Result] = []
            for start in range(0, len(items), _BATCH):
                results += await self._judge(items[start : start + _BATCH])
            answered = iter(results)
            for partition, pairs in open_pairs.values():
                partition.take(dict(zip(pairs, answered, strict=False)))
                await pace.keep()

    def _partition(self, group: Group) -> Partition:
        """The group without answers, and what is wrong with it."""
        partition = Partition(group, [None] * len(group.responses), ())
        if group.verifier not in STAND_INS or group.recipe is not None:
            names = sorted(STAND_INS)
            partition.message = f"classes of answers need a verifier with an equality, one of {names}, and no recipe"
            return partition
        try:
            params = decoded_params(bytes(group.params))
            partition.params = {name: value for name, value in params.items() if name not in _OF_UNEQUAL}
            partition.params_json = (
                group.params if params == partition.params else msgspec.Raw(encode(partition.params))
            )
        except InvalidItem as error:
            partition.message = str(error)
            return partition
        if group.verifier == CODE:
            partition.message = _problem_of_inputs(partition)
        if group.verifier == "qa" and partition.params.get("metric", "exact") not in QA_METRICS:
            partition.message = f"params.metric: only by one of {sorted(QA_METRICS)} are two answers equal or not"
        return partition

    async def _read(self, partitions: Sequence[Partition]) -> None:
        """Find the answers of all responses."""
        pace, items = Pace(), list[ScoreItem]()
        for p in partitions:
            stand_in = msgspec.Raw(encode(_reference(p, None)))
            items += [self._item(p, response, stand_in) for response in p.group.responses]
            await pace.keep()
        results = iter(await self._judge(items))
        for p in partitions:
            p.results = list(islice(results, len(p.group.responses)))
            invalid = [outcome for outcome in p.results if outcome.status == "invalid"]
            bad = next((outcome for outcome in invalid if outcome.reason != _SILENT), None)
            if bad is not None and len(invalid) == len(p.results):  # a fault of one response is not that of the group
                p.message = f"{bad.reason}: {bad.detail.get('message', '')}"
                continue
            p.failed = {
                at for at, outcome in enumerate(p.results) if outcome.status != "ok" and outcome.reason != _SILENT
            }
            p.answers = [_answer(outcome, text) for outcome, text in zip(p.results, p.group.responses, strict=True)]
            if p.group.verifier not in _LISTED and not _is_notation(p):
                p.set_blanks_aside()
        sound = [p for p in partitions if not p.message]
        await self._check_forms([p for p in sound if p.params.get("form", "any") != "any" or _is_notation(p)])
        await self._run_again([p for p in sound if p.group.verifier == CODE])
        for p in sound:
            keys = self._keys(p)
            is_decided = p.group.verifier == "multiple_choice" or len(keys) == len({*p.answers} - {None})
            p.begin({} if is_decided else await self._all_written(p, pace), keys)
            await pace.keep()

    async def _check_forms(self, partitions: Sequence[Partition]) -> None:
        """Leave out the answers that are wrong in form, or words where a formula is asked for ("Na" is sodium, "N/A" is
        not): each is judged against itself.
        """
        firsts = [(p, answer, at) for p in partitions for answer, at in p.first_positions().items()]
        firsts = [(p, answer, at) for p, answer, at in firsts if not _is_notation(p) or gives_none(answer)]
        items = [self._item(p, p.group.responses[at], msgspec.Raw(encode(answer))) for p, answer, at in firsts]
        for (p, answer, _), result in zip(firsts, await self._judge(items), strict=True):
            if result.reason == WRONG_FORM:
                p.withhold({answer}, WRONG_FORM)
            elif _is_notation(p) and result.score != 1.0:
                p.withhold({answer}, _NO_ANSWER)

    async def _run_again(self, partitions: Sequence[Partition]) -> None:
        """Find programs that print something else each time: equal texts are run once. Only those of the top_count frequent
        outputs may win.
        """
        firsts: list[tuple[Partition, str, int]] = []
        for p in partitions:
            counts = Counter(answer for answer in p.answers if answer is not None)
            top_count = max(counts.values(), default=0)
            firsts += [(p, answer, at) for answer, at in p.first_positions().items() if counts[answer] == top_count]
        items = [self._item(p, p.group.responses[at], msgspec.Raw(encode(_reference(p, None)))) for p, _, at in firsts]
        for (p, answer, at), result in zip(firsts, await self._judge_anew(items), strict=True):
            positions = {at for at, other in enumerate(p.answers) if other == answer}
            if result.status != "ok":
                p.unsettled |= positions
            elif _answer(result, p.group.responses[at]) != answer or told.is_null(answer):
                p.unfit |= positions

    async def _all_written(self, partition: Partition, pace: Pace) -> dict[str, str]:
        """The answers that can be compared, each written as a response."""
        texts: dict[str, str] = {}
        for answer, response in zip(partition.answers, partition.group.responses, strict=True):
            is_comparable = answer is not None and len(answer) <= MAX_COMPARED_CHARS and STAND_IN not in answer
            if answer is not None and is_comparable and answer not in texts:
                text = response if isinstance(response, str) else answer
                texts[answer] = self._written(partition, answer) or text
                await pace.keep()
        return texts

    def _keys(self, partition: Partition) -> dict[str, Hashable]:
        """The keys of the answers that have one."""
        assert partition.group.verifier is not None
        verifier = self._registry[partition.group.verifier].verifier
        answers = {answer for answer in partition.answers if answer is not None}
        if partition.group.verifier == "multiple_choice":
            return {answer: answer for answer in answers}
        params = verifier.params.model_validate({**partition.params, "reference": _reference(partition, None)})
        keys = {answer: verifier.answer_key(answer, params) for answer in answers if len(answer) <= MAX_KEY_CHARS}
        return {answer: key for answer, key in keys.items() if key is not None}

    def _written(self, partition: Partition, answer: str) -> str | None:
        """The answer written as a response. None: the verifier does not take it for a reference."""
        assert partition.group.verifier is not None
        verifier = self._registry[partition.group.verifier].verifier
        try:
            params = verifier.params.model_validate({**partition.params, "reference": _reference(partition, answer)})
        except ValidationError:
            return None
        return verifier.own_answer(params)

    def _item(self, partition: Partition, response: Any, reference: msgspec.Raw) -> ScoreItem:
        item = ScoreItem(response, verifier=partition.group.verifier, prompt=partition.group.prompt)
        item.reference, item.params = reference, partition.params_json
        return item


def _is_notation(partition: Partition) -> bool:
    """Whether answers are in a notation that no word is of."""
    return partition.group.verifier == "chemistry" and partition.params.get("kind") != "name"


def _reference(partition: Partition, answer: str | None) -> Any:
    """The reference that holds an answer. None: a stand-in.

    Raises:
        InvalidItem, ValueError: the group has no inputs of programs.
    """
    if partition.group.verifier == CODE:
        inputs = msgspec.json.decode(partition.group.reference or b"null")
        return told.with_outputs(inputs, None if answer is None else msgspec.json.decode(answer))
    return _stand_in(partition) if answer is None else answer


def _problem_of_inputs(partition: Partition) -> str:
    """Why the programs of a group cannot be run for their outputs; empty if they can."""
    nbytes = len(bytes(partition.group.reference))
    if nbytes > MAX_INPUT_BYTES:
        return f"reference: it has {nbytes} bytes; at most {MAX_INPUT_BYTES} are compared by outputs, leave out some inputs"
    try:
        _reference(partition, None)
    except (InvalidItem, ValueError) as error:
        return f"reference: {error}"
    return ""


def _stand_in(partition: Partition) -> Any:
    """The reference with which answers are found."""
    verifier, params = partition.group.verifier, partition.params
    assert verifier is not None
    if verifier == "qa":
        return QA_METRICS[params.get("metric", "exact")]
    return _first_label(params) if verifier == "multiple_choice" else STAND_INS[verifier]


def _first_label(params: Mapping[str, Any]) -> str:
    choices, letters = params.get("choices"), params.get("letters")
    if isinstance(choices, dict):
        label_names = choices.get("label")
        labels = label_names if isinstance(label_names, list) else list(choices)
        return str(labels[0]) if labels else "A"
    return letters[0] if isinstance(letters, str) and letters else "A"


def _answer(result: Result, response: Any) -> str | None:
    """The answer of a response, whole if the verdict has cut it; of a choice its labels."""
    if result.status != "ok":
        return None
    if options := result.detail.get("options"):
        return ", ".join(options)
    if result.verifier == CODE:
        return result.detail.get("outputs")
    answer, span = result.extracted, result.detail.get("span")
    if answer is not None and len(answer) >= MAX_DETAIL_TEXT_CHARS and isinstance(response, str) and span:
        answer = response[slice(*span)]
    return answer if answer is not None and answer.strip() else None
