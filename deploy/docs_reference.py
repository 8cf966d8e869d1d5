"""The pages of the documentation that are made from the code: verifiers, HTTP, gRPC, the client, commands, settings.

Each function gives Markdown. What a running service says (`/v1/verifiers`, `/openapi.json`, verdicts) is handed in.
"""

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, Final

import typer
from typer.cli import get_docs_for_click
from typer.main import get_command

Json = Mapping[str, Any]

_LIMITS: Final = {
    "minimum": "≥",
    "exclusiveMinimum": ">",
    "maximum": "≤",
    "exclusiveMaximum": "<",
    "minLength": "length ≥",
    "maxLength": "length ≤",
    "minItems": "items ≥",
    "maxItems": "items ≤",
}
_SHOWN_CHARS: Final = 1200


class BrokenExample(Exception):
    """An example of a verifier got another verdict than it promises. The message says which."""


def verifier_page(described: Json, verdicts: Sequence[Json]) -> str:
    """The page of a verifier. `verdicts[i]` belongs to `examples[i]`.

    Raises:
        BrokenExample
    """
    schema = described["params_schema"]
    shapes = schema.get("$defs", {})
    pages = [
        f"# {described['name']}\n\n{described['summary']}.\n\nVersion {described['version']}; "
        f"{'equal items get equal verdicts' if described['deterministic'] else 'equal items may get other verdicts'}.",
        "## Parameters\n\n`reference` is a field of the item; the others are fields of its `params`.\n\n"
        + _fields(schema),
    ]
    for name, shape in shapes.items():
        if "properties" in shape:
            pages.append(f"### {name}\n\n{shape.get('description', '')}\n\n{_fields(shape)}")
    examples = zip(described["examples"], verdicts, strict=True)
    pages.append("## Examples\n\n" + "\n\n".join(_example(described["name"], *pair) for pair in examples))
    return "\n\n".join(pages) + "\n"


def example_items(described: Json) -> list[dict[str, Any]]:
    """The items of a verifier's examples, as a caller posts them."""
    return [_item(described["name"], example) for example in described["examples"]]


def recipes_page(book: Json) -> str:
    """The page of the recipes that ship, from `/v1/recipes`."""
    sections = []
    for recipe in book["recipes"]:
        about = re.sub(r"(?<!\n)\n(?=- )", "\n\n", _plain(recipe["about"]).strip(), count=1)
        checks = [
            (f"`{check['name']}`", f"`{check['verifier']}`", "" if check["weight"] is None else f"{check['weight']:g}")
            for check in recipe["checks"]
        ]
        sections.append(f"## {recipe['name']}\n\n{about}\n\n{_table(('check', 'verifier', 'weight'), checks)}")
    about = (
        "A row's labels find its recipe, or the field `recipe` of an item names it. `GET /v1/recipes` has every detail."
    )
    return _page("Recipes that ship", about, *sections)


def http_page(document: Json) -> str:
    """The page of the HTTP contract, by tags, from its OpenAPI document."""
    groups: dict[str, list[str]] = {}
    for path, operations in document["paths"].items():
        for verb, operation in operations.items():
            groups.setdefault(operation["tags"][0], []).append(_operation(verb, path, operation, document))
    sections = [f"## {tag.capitalize()}\n\n" + "\n\n".join(texts) for tag, texts in groups.items()]
    shapes = [
        f"### {name}\n\n{shape.get('description', '')}\n\n{_fields(shape)}"
        for name, shape in document["components"]["schemas"].items()
        if shape.get("properties")
    ]
    about = document["info"]["description"] + _TRY_HTTP
    headers = _parameters(document["components"].get("parameters", {}).values())
    if headers:
        about += f"\n\nAll operations that need a key take these, too:\n\n{headers}"
    return _page("HTTP", about, *sections, "## Shapes\n\n" + "\n\n".join(shapes))


def grpc_page(proto: str) -> str:
    """The page of the gRPC contract, from its proto file."""
    head, *_ = proto.partition("syntax =")
    about = " ".join(line.removeprefix("//").strip() for line in head.splitlines())
    sections = []
    for comment, kind, name, body in _BLOCK.findall(proto):
        description = " ".join(line.removeprefix("//").strip() for line in comment.splitlines())
        sections.append(f"## {name}\n\n{description}\n\n{_fenced(f'{kind} {name} {{{body}}}', 'protobuf')}")
    return _page("gRPC", about, *sections)


def client_page(module: ModuleType) -> str:
    """The page of the client, from the docstrings of what its package exports."""
    sections = [_object(name, getattr(module, name)) for name in sorted(module.__all__) if name != "Item"]
    return _page("The Python client", _fenced_code(inspect.getdoc(module) or ""), *sections)


def command_page(app: typer.Typer) -> str:
    """The page of the commands, as `--help` shows them, without the list of commands, whose texts it cuts."""
    command = get_command(app)
    text = get_docs_for_click(obj=command, ctx=typer.Context(command), name="rewardline")
    text = re.sub(r"\*\*Commands\*\*:\n\n(?:\* .*\n)+\n", "", text)
    return re.sub(r"(?<!`)<([\w\[\]|., ]+)>", r"‹\1›", text).replace("# `rewardline`", "# The command `rewardline`", 1)


def metrics_page(exposed: str) -> str:
    """The page of the metrics, from what `/metrics` answers."""
    kinds = dict(re.findall(r"^# TYPE (\w+) (\w+)$", exposed, re.MULTILINE))
    helps = re.findall(r"^# HELP (rewardline_\w+) (.*)$", exposed, re.MULTILINE)
    rows = [(f"`{name}`", kinds[name], _cell(text)) for name, text in helps if not name.endswith("_created")]
    return _page("Metrics", "`/metrics` has these, for Prometheus.", _table(("metric", "kind", "meaning"), rows))


def settings_page(source: str) -> str:
    """The page of the settings, from the source of their class."""
    module = ast.parse(source)
    about = (ast.get_docstring(module) or "").replace("<NAME>", "`NAME`").replace("_`NAME`", "_NAME")
    (settings_class,) = (node for node in module.body if isinstance(node, ast.ClassDef) and node.name == "Settings")
    rows = []
    for node, following in zip(settings_class.body, [*settings_class.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            description = ""
            if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
                description = inspect.cleandoc(str(following.value.value))
            default = "" if node.value is None else ast.unparse(node.value)
            rows.append((f"`{node.target.id}`", f"`{default}`", _cell(description)))
    return _page("Settings", about, _table(("setting", "default", "meaning"), rows))


_TRY_HTTP: Final = (
    "\n\nA running service shows this contract at `/docs`, where each operation can be tried in the browser "
    "([on this machine](http://127.0.0.1:8080/docs)), and at `/openapi.json` for tools."
)
_SECTION = re.compile(r"^(Args|Raises|Returns|Yields):\n((?:    .+\n?)+)", re.MULTILINE)
_LINE = re.compile(r"^    (?! )", re.MULTILINE)
_BLOCK = re.compile(r"((?:^//.*\n)*)^(service|enum|message) (\w+) \{(\n[\s\S]*?^)\}", re.MULTILINE)


def _page(title: str, *sections: str) -> str:
    return "\n\n".join((f"# {title}", *sections)) + "\n"


def _item(verifier: str, example: Json) -> dict[str, Any]:
    params = dict(example["params"])
    item = {"verifier": verifier, "response": example["response"]}
    if example["prompt"] is not None:
        item["prompt"] = example["prompt"]
    if "reference" in params:
        item["reference"] = params.pop("reference")
    if params:
        item["params"] = params
    return item


def _example(verifier: str, example: Json, verdict: Json) -> str:
    promised = example["status"], example["score"], example["reason"]
    actual = verdict["status"], verdict["score"], verdict["reason"]
    if actual[0] != "failed" and actual != promised:
        raise BrokenExample(f"{verifier}, {example['note']!r}: {actual} instead of {promised}")
    score = promised[0] if promised[1] is None else f"{promised[1]:g}"
    ran = "" if actual == promised else f"\n\nNot run for this page: {verdict['reason']}."
    item = json.dumps(_item(verifier, example), ensure_ascii=False, indent=1)
    cut = item if len(item) <= _SHOWN_CHARS else item[:_SHOWN_CHARS] + " …"
    return f"**{score}**, `{promised[2]}`: {_plain(example['note'])}{ran}\n\n{_fenced(cut, 'json')}"


def _operation(verb: str, path: str, operation: Json, document: Json) -> str:
    blocks = [f"### {verb.upper()} {path}\n\n{operation['summary']}. {operation.get('description', '')}"]
    if parameter_table := _parameters(entry for entry in operation.get("parameters", ()) if "$ref" not in entry):
        blocks.append(parameter_table)
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body:
        blocks.append(f"Body: {_type(body['schema'])}")
        if body["schema"].get("properties"):
            blocks.append(_fields(body["schema"]))
        if "example" in body:
            blocks.append(_fenced(json.dumps(body["example"], ensure_ascii=False, indent=1), "json"))
    blocks.append(
        _table(
            ("status", "means"),
            [(f"`{status}`", _cell(entry["description"])) for status, entry in sorted(operation["responses"].items())],
        )
    )
    return "\n\n".join(blocks)


def _parameters(parameters: Iterable[Json]) -> str:
    """Parameters as a table; empty where there are none."""
    rows = [
        (f"`{parameter['name']}`", parameter["in"], _cell(parameter.get("description", ""))) for parameter in parameters
    ]
    return _table(("parameter", "in", "meaning"), rows) if rows else ""


def _fields(schema: Json) -> str:
    """The properties of a JSON schema as a table."""
    needed = schema.get("required", ())
    rows = []
    for name, field in schema.get("properties", {}).items():
        default = json.dumps(field["default"], ensure_ascii=False) if "default" in field else ""
        default_text = f"`{default}`" if default else "required" if name in needed else ""
        rows.append((f"`{name}`", _cell(_type(field)), _cell(default_text), _cell(field.get("description", ""))))
    return _table(("name", "type", "default", "meaning"), rows) if rows else "None."


def _type(schema: Any) -> str:
    """A JSON schema in a few words."""
    if not isinstance(schema, Mapping) or not schema:
        return "any JSON"
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            return " or ".join(dict.fromkeys(_type(option) for option in schema[keyword]))
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(option, ensure_ascii=False)}`" for option in schema["enum"])
    if "const" in schema:
        return f"`{json.dumps(schema['const'], ensure_ascii=False)}`"
    kind = schema.get("type", "any JSON")
    name = "array of " + _type(schema.get("items")) if kind == "array" else str(kind)
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        name += " of " + _type(schema["additionalProperties"])
    limits = [f"{sign} {schema[key]:g}" for key, sign in _LIMITS.items() if isinstance(schema.get(key), int | float)]
    return ", ".join((name, *limits))


def _object(name: str, value: Any) -> str:
    blocks = [f"## {name}", _fenced_code(inspect.getdoc(value) or "")]
    if inspect.isclass(value) and not issubclass(value, Exception):
        if _has_signature(value):
            blocks.insert(1, _fenced(f"{name}{_signature(value)}", "python"))
        blocks += [_method(name, member_name, member) for member_name, member in _members(value)]
    elif inspect.isfunction(value):
        blocks.insert(1, _fenced(f"{name}{_signature(value)}", "python"))
    return "\n\n".join(part for part in blocks if part)


def _members(class_: type) -> Iterator[tuple[str, Any]]:
    for name, member in inspect.getmembers(class_, inspect.isfunction):
        if not name.startswith("_") and inspect.getdoc(member):
            yield name, member


def _method(owner: str, name: str, member: Any) -> str:
    word = "async def" if inspect.iscoroutinefunction(member) else "def"
    signature = _fenced(f"{word} {name}{_signature(member)}", "python")
    return f"### {owner}.{name}\n\n{signature}\n\n{_fenced_code(inspect.getdoc(member) or '')}"


def _has_signature(class_: type) -> bool:
    return "__init__" in vars(class_) and not hasattr(class_, "__members__")


def _signature(value: Any) -> str:
    signature = str(inspect.signature(value)).replace("'", "")
    return signature.replace("(self, ", "(").replace("(self)", "()")


def _fenced_code(docstring: str) -> str:
    """A docstring as Markdown: its indented parts are code, and its sections (`Raises:` and others) are lists."""
    docstring = _SECTION.sub(lambda match: f"{match[1]}:\n\n{_LINE.sub('* ', match[2])}", docstring)
    indented = re.compile(r"(?:(?<=\n\n)|\A)((?:    .*\n?|\n(?=    ))+)")
    return indented.sub(lambda match: _fenced(textwrap.dedent(match[1]).strip("\n"), "python") + "\n", docstring)


def _fenced(text: str, language: str) -> str:
    ticks = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{ticks}{language}\n{text}\n{ticks}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(_plain(text).replace("|", "\\|").split())


def _plain(text: str) -> str:
    """Text of ours in which nothing is HTML."""
    return "`".join(
        part if index % 2 else part.replace("<", "&lt;").replace("*", "\\*")
        for index, part in enumerate(text.split("`"))
    )
