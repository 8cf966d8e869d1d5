"""Fresh items about a response's form: lengths, repetition, tags, documents, schemas, and instructions of IFEval's kinds."""

import csv
import io
import json
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import yaml

from tests.siege.fresh.draw import Draw, Posted


def length(draw: Draw) -> Posted:
    words = draw.randint(40, 400)
    short, long = words - draw.randint(1, 30), words + draw.fresh_int(4)
    if not draw.is_right:
        short = words + draw.randint(1, 9)
    return Posted(draw.phrase(words), float(draw.is_right), None, {"minimum": short, "maximum": long})


def overlong(draw: Draw) -> Posted:
    most = 4096 + draw.fresh_int(1)
    buffer = draw.randint(10, 2000)
    tokens = draw.randint(1, most - buffer) if draw.is_right else most + draw.randint(1, 99)
    params = {"max_length": most, "buffer": buffer, "completion_tokens": tokens}
    return Posted(draw.prose(), float(draw.is_right), None, params)


def cosine_length(draw: Draw) -> Posted:
    """An answer of no length: its reward is the curve's end, whatever the curve's length."""
    params = {"max_length": 1000 + draw.fresh_int(1), "completion_tokens": 0, "correct": draw.is_right}
    return Posted(draw.prose(), float(draw.is_right), None, params)


def repetition(draw: Draw) -> Posted:
    text = draw.prose() if draw.is_right else f"{draw.phrase(3)} " * draw.randint(40, 80)
    params = {"tolerance": draw.fraction(0.1, 0.3), "worst": draw.fraction(0.4, 0.7)}
    return Posted(text, float(draw.is_right), None, params)


def tag_count(draw: Draw) -> Posted:
    outer, inner = draw.names(2)
    tags = [f"<{outer}>\n", f"\n</{outer}>", f"<{inner}>\n", f"\n</{inner}>"]
    text = f"<{outer}>\n{draw.prose()}\n</{outer}>\n<{inner}>\n{draw.phrase()}\n</{inner}>"
    return Posted(text if draw.is_right else draw.prose(), float(draw.is_right), None, {"tags": tags, "in_order": True})


def think_format(draw: Draw) -> Posted:
    think, answer = draw.names(2)
    text = f"<{think}>\n{draw.prose()}\n</{think}>\n<{answer}>\n{draw.phrase()}\n</{answer}>"
    params = {"think_tag": think, "answer_tag": answer}
    return Posted(text if draw.is_right else text.replace(f"<{think}>", ""), float(draw.is_right), None, params)


_LANGUAGES = ("cpp", "c++", "java", "javascript", "js", "go", "rust", "rs", "bash", "sh", "c", "ruby", "sql")


def code_format(draw: Draw) -> Posted:
    """A program in Python, which is parsed, or in another language. Nothing in the parameters is free to be new."""
    name, value = draw.names(2)
    if draw.random() < 0.5:
        language = draw.choice(("python", "py", "python3"))
        code = f"def {name}({value}):\n    return [{value} * row for row in range({draw.fresh_int()})]"
        code = code if draw.is_right else code.replace("):", ")")
    else:
        language = draw.choice(_LANGUAGES)
        code = f"{name}({value}, {draw.fresh_int()});" if draw.is_right else ""
    response = f"{draw.prose()}\n\n```{language}\n{code}\n```"
    return Posted(response, float(draw.is_right), None, {"language": language})


_TYPES: tuple[tuple[dict[str, Any], Callable[[Draw], Any]], ...] = (
    ({"type": "string", "minLength": 1}, lambda draw: draw.phrase()),
    ({"type": "integer", "minimum": 0}, lambda draw: draw.fresh_int()),
    ({"type": "number", "exclusiveMaximum": 1}, lambda draw: draw.fraction()),
    ({"type": "boolean"}, lambda draw: draw.random() < 0.5),
    ({"type": "array", "items": {"type": "string"}, "maxItems": 9}, lambda draw: draw.names(3)),
    ({"type": ["string", "null"]}, lambda draw: None),
)


def _record(draw: Draw) -> tuple[dict[str, Any], dict[str, Any]]:
    """A schema of the kind that structured outputs have, and an object that is valid for it."""
    schema: dict[str, Any] = {"type": "object", "title": draw.phrase(), "properties": {}, "additionalProperties": False}
    value: dict[str, Any] = {}
    for name in draw.names(draw.randint(3, 8)):
        kind, make = draw.choice(_TYPES)
        schema["properties"][name] = {**kind, "description": draw.sentence()}
        value[name] = make(draw)
    picked, other, code = draw.names(3)
    schema["properties"][picked] = {"enum": [picked, other]}
    schema["properties"][code] = {"type": "string", "pattern": f"^{code}-[0-9]{{2,6}}$"}
    value |= {picked: other, code: f"{code}-{draw.randint(10, 999_999)}"}
    if draw.random() < 0.5:
        inner, part = draw.names(2)
        schema["$defs"] = {inner: {"type": "object", "properties": {part: {"type": "integer"}}, "required": [part]}}
        schema["properties"][part] = {"type": "array", "items": {"$ref": f"#/$defs/{inner}"}}
        value[part] = [{part: draw.randrange(99)} for _ in range(3)]
    schema["required"] = sorted(value)
    if not draw.is_right:
        value[picked] = draw.name()
    return schema, value


def json_schema(draw: Draw) -> Posted:
    schema, value = _record(draw)
    text = json.dumps(value, indent=draw.choice((None, 2)))
    response = f"{draw.thought()}```json\n{text}\n```" if draw.random() < 0.5 else text
    return Posted(response, float(draw.is_right), schema)


def structured_output(draw: Draw) -> Posted:
    kind = draw.choice(("json", "yaml", "toml", "csv"))
    schema, value = _record(draw)
    if kind == "json":
        return Posted(json.dumps(value), float(draw.is_right), schema, {"format": kind})
    if kind == "yaml":
        return Posted(yaml.safe_dump(value), float(draw.is_right), schema, {"format": kind})
    if kind == "toml":
        name, other = draw.names(2)
        schema = {"type": "object", "required": [name], "properties": {name: {"type": "integer"}}}
        text = f"{name} = {draw.fresh_int()}\n[{other}]\ntitle = {json.dumps(draw.sentence())}\n"
        return Posted(
            text if draw.is_right else text.replace(name, draw.name()), float(draw.is_right), schema, {"format": kind}
        )
    columns = draw.names(draw.randint(2, 5))
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns if draw.is_right else reversed(columns))
    writer.writerows([draw.phrase() for _ in columns] for _ in range(draw.randint(2, 12)))
    return Posted(out.getvalue(), float(draw.is_right), None, {"format": kind, "columns": columns})


def xml(draw: Draw) -> Posted:
    root, row, part, note = draw.names(4)
    tree = ElementTree.Element(root)
    for _ in range(draw.randint(2, 9)):
        child = ElementTree.SubElement(tree, row, id=str(draw.fresh_int()))
        ElementTree.SubElement(child, part).text = draw.phrase()
        ElementTree.SubElement(child, note).text = draw.sentence()
    text = ElementTree.tostring(tree, encoding="unicode")
    params = {"root": root, "required": [f"{root}/{row}/{part}"], "allowed": [root, row, part, note]}
    return Posted(text if draw.is_right else text.replace(f"{root}>", f"{note}>"), float(draw.is_right), None, params)


# --- instructions


def instruction_following(draw: Draw) -> Posted:
    """Two or three instructions of IFEval's and IFBench's kinds. The first is broken by a wrong response."""
    profile = draw.choice(("fixed", "official"))
    wanted, absent, often, end = draw.names(2), draw.names(2), draw.name(), draw.name()
    text = f"{draw.prose()} {' '.join(wanted)} {often} and {often}. {end.capitalize()}."
    present = wanted if draw.is_right else absent
    first = draw.choice(
        (
            ("keywords:existence", {"keywords": present}),
            ("keywords:forbidden_words", {"forbidden_words": absent if draw.is_right else wanted}),
            ("keywords:frequency", {"keyword": present[0], "frequency": 1, "relation": "at least"}),
            ("startend:end_checker", {"end_phrase": f"{end.capitalize() if draw.is_right else absent[0]}."}),
            ("keywords:existence", {"keywords": [*present, often]}),
        )
    )
    others = draw.sample(
        (
            ("keywords:frequency", {"keyword": often, "frequency": 2, "relation": "at least"}),
            ("keywords:forbidden_words", {"forbidden_words": draw.names(3)}),
            ("length_constraints:number_words", {"relation": "less than", "num_words": draw.randint(400, 999_999)}),
            ("keywords:letter_frequency", {"letter": "e", "let_frequency": 3, "let_relation": "at least"}),
            ("length_constraints:number_sentences", {"relation": "less than", "num_sentences": 400}),
            ("punctuation:no_comma", {}),
            ("change_case:capital_word_frequency", {"capital_relation": "less than", "capital_frequency": 20}),
        ),
        draw.randint(1, 2),
    )
    checks = [first, *others]
    reference = {"instruction_id_list": [name for name, _ in checks], "kwargs": [kwargs for _, kwargs in checks]}
    if draw.random() < 0.2:
        row = {"func_name": "verify_keywords", "keyword_list": present, "N": None}
        return Posted(text, float(draw.is_right), json.dumps(row))
    return Posted(text, float(draw.is_right), reference, {"profile": profile, "aggregate": "all"}, draw.sentence())
