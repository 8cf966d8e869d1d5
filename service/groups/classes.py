r"""Which responses of a group give the same answer, by the equality of a verifier: 1/2, 0.5 and \frac12 are one answer
for `math`.

    responses ──► answers          each is judged against a reference that is there only so that its answer is found
    answers ──► keys               answers with keys of the verifier's are equal if these are: nobody compares them
    answers ──► classes            in rounds: the most frequent answer without a class is the reference, and all
                                   others without a class are judged against it; those that are right join it

All groups of a request share the batches of a round. An answer whose comparison came to no end is `unsettled`: it may be
of the class that it was compared with. Equality is not always transitive: 50 % equals 0.5 and 50. So the order of
references depends on the answers alone, never on the order of the responses.
"""

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
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
from verifiers.own_answers import STAND_IN
from verifiers.pace import Pace
from verifiers.registry import Registry

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
    "chemistry": "H2O",
    "expression": "0",
}
"""The verifiers whose equality makes classes, and the reference with which answers are found. None: the first option."""
QA_METRICS: Final[Mapping[str, Any]] = {"exact": "0", "bool": True, "date": "2000-01-01", "list": "0"}
"""The metrics of `qa` by which two answers are equal or not."""
MAX_COMPARED_CHARS: Final = 10_000
"""Longer answers are the same only if their texts are."""
MAX_INPUT_BYTES: Final = 200_000
"""More inputs of programs are not read on the event loop."""
MAX_KEY_CHARS: Final = 100
MAX_ROUNDS: Final = 32
"""Answers beyond so many classes are not compared any more, and are unsettled."""


@dataclass(slots=True)
class Partition:
    """The answers of one group, and their classes so far. Positions are those of the responses."""

    group: Group
    answers: list[str | None]
    """The answer of each response; None: it gives none."""
    results: Sequence[Result]
    """How each response was read."""
    classes: list[list[int]] = field(default_factory=list)
    """The positions of each class; the largest first, and of equal ones the one whose answer came first."""
    unsettled: set[int] = field(default_factory=set)
    """Positions whose answer may be that of another class, too."""
    failed: set[int] = field(default_factory=set)
    """Positions whose answer could not be found."""
    unfit: set[int] = field(default_factory=set)
    """Positions whose answer the verifier does not take for a reference: it is right for no task."""
    message: str = ""
    """Why the group cannot be judged."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """The parameters of the group, decoded."""
    _open: dict[str, list[int]] = field(default_factory=dict)
    """The positions of each answer without a class."""
    _written: Mapping[str, str] = field(default_factory=dict)
    _keys: Mapping[str, Hashable] = field(default_factory=dict)
    """The keys of open answers. Two answers with keys are equal if their keys are."""
    _unfit: set[str] = field(default_factory=set)
    """Answers that cannot be a reference."""
    rounds: int = 0

    def begin(self, texts: Mapping[str, str], keys: Mapping[str, Hashable]) -> None:
        """Start with a class for each answer that is too long to be compared. `texts` holds the others, each written
        as a response; `keys` the keys of those that have one.
        """
        representatives: dict[Hashable, str] = {}
        for at, answer in sorted(enumerate(self.answers), key=lambda numbered: numbered[1] or ""):
            if answer is not None:
                name = representatives.setdefault(keys[answer], answer) if answer in keys else answer
                self._open.setdefault(name, []).append(at)
        self._written, self._keys = texts, keys
        incomparable = [answer for answer in self._open if answer not in texts and answer not in keys]
        self.classes = [self._open.pop(answer) for answer in incomparable]

    @property
    def reference(self) -> str | None:
        """The answer with which the others are compared next. None: there is none."""
        fit = [answer for answer in self._open if answer not in self._unfit]
        largest = max(map(len, self.classes), default=0)
        is_last = len(self._open) == 1 and all(len(members) < largest for members in self._open.values())
        if not fit or self.rounds == MAX_ROUNDS or is_last or self._keys.keys() >= self._open.keys():
            return None
        return max(fit, key=lambda answer: len(self._open[answer]))  # of several, the first by its text

    def _others(self, reference: str | None) -> list[str]:
        """The answers that may equal the reference. An only answer is compared with itself: nan does not equal nan."""
        has_key = reference in self._keys
        others = [answer for answer in self._open if answer != reference and not (has_key and answer in self._keys)]
        return others or [*self._open]

    def questions(self) -> list[str]:
        """The responses that are judged against `reference`."""
        return [self._written[answer] for answer in self._others(self.reference)]

    def take(self, results: Sequence[Result]) -> None:
        """Note how the responses of `questions` compare with `reference`."""
        reference = self.reference
        assert reference is not None
        self.rounds += 1
        candidates = self._others(reference)
        is_unequal = candidates == [reference] and results[0].status == "ok" and results[0].score != 1.0
        if is_unequal or all(result.status == "invalid" for result in results):
            self._unfit.add(reference)
            self.unfit.update(self._open[reference])
            return
        members = self._open.pop(reference)
        for answer, result in zip(candidates, results, strict=True):
            if result.status != "ok":
                self.unsettled.update(self._open.get(answer, ()), members)
            elif result.score == 1.0:
                members += self._open.pop(answer, [])
        self.classes.append(members)

    def finish(self) -> None:
        """Make classes of what is left, and put all in order."""
        remaining = list(self._open.values())
        if self.rounds == MAX_ROUNDS and len(remaining) > 1 and not self._keys.keys() >= self._open.keys():
            self.unsettled.update(at for positions in remaining for at in positions)
        self.classes = [sorted(positions) for positions in (*self.classes, *remaining)]
        self.classes.sort(key=lambda positions: (-len(positions), positions[0]))
        self._open = {}


class Classes:
    """Makes the classes of groups."""

    def __init__(self, registry: Registry, judge: Judge) -> None:
        self._registry = registry
        self._judge = judge
        self.comparisons = 0

    async def of(self, groups: Sequence[Group]) -> list[Partition]:
        """The classes of each group."""
        pace = Pace()
        partitions = []
        for group in groups:
            partitions.append(self._partition(group))
            await _keep(pace)
        await self._read([partition for partition in partitions if not partition.message])
        going = [partition for partition in partitions if not partition.message]
        while going := [partition for partition in going if partition.reference is not None]:
            items: list[ScoreItem] = []
            for partition in going:
                reference = msgspec.Raw(encode(_reference(partition, partition.reference)))
                items += [self._item(partition, text, reference) for text in partition.questions()]
                await _keep(pace)
            self.comparisons += len(items)
            results = iter(await self._judge(items))
            for partition in going:
                partition.take(list(islice(results, len(partition.questions()))))
                await _keep(pace)
        for partition in partitions:
            partition.finish()
        return partitions

    def _partition(self, group: Group) -> Partition:
        """The group without answers, and what is wrong with it."""
        partition = Partition(group, [None] * len(group.responses), ())
        if group.verifier not in STAND_INS or group.recipe is not None:
            names = sorted(STAND_INS)
            partition.message = f"classes of answers need a verifier with an equality, one of {names}, and no recipe"
            return partition
        try:
            partition.params = decoded_params(bytes(group.params))
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
            await _keep(pace)
        results = iter(await self._judge(items))
        for p in partitions:
            p.results = list(islice(results, len(p.group.responses)))
            invalid = next((outcome for outcome in p.results if outcome.status == "invalid"), None)
            if invalid is not None:
                p.message = f"{invalid.reason}: {invalid.detail.get('message', '')}"
                continue
            p.failed = {at for at, outcome in enumerate(p.results) if outcome.status == "failed"}
            p.answers = [_answer(outcome, text) for outcome, text in zip(p.results, p.group.responses, strict=True)]
            keys = self._keys(p)
            is_decided = p.group.verifier == "multiple_choice" or len(keys) == len({*p.answers} - {None})
            p.begin({} if is_decided else await self._all_written(p, pace), keys)
            await _keep(pace)

    async def _all_written(self, partition: Partition, pace: Pace) -> dict[str, str]:
        """The answers that can be compared, each written as a response."""
        texts: dict[str, str] = {}
        for answer, response in zip(partition.answers, partition.group.responses, strict=True):
            is_comparable = answer is not None and len(answer) <= MAX_COMPARED_CHARS and STAND_IN not in answer
            if answer is not None and is_comparable and answer not in texts:
                text = response if isinstance(response, str) else answer
                texts[answer] = self._written(partition, answer) or text
                await _keep(pace)
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
        item.reference, item.params = reference, partition.group.params
        return item


async def _keep(pace: Pace) -> None:
    if pace.is_over():
        await pace.rest()


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
