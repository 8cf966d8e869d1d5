"""Types the parameters of an item, and stops at the first error of each list, object and union.

Pydantic collects every error. A reference of 100,000 elements of the wrong type makes six errors for each, which take
a gigabyte and seconds, and nobody reads more than the first ones.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, TypeVar

from pydantic import AliasChoices, BaseModel
from pydantic_core import PydanticCustomError, SchemaValidator

from verifiers.base import Params

P = TypeVar("P", bound=BaseModel)

_MANY: Final = frozenset({"list", "tuple", "set", "frozenset", "dict"})
_NO_SCHEMAS: Final = frozenset({"metadata", "serialization", "default", "expected", "members", "cls", "config"})
_SPARE_NAMES: Final = 8
"""The unknown names of an object that are reported one by one. An object with more of them is not read."""


def typed(kind: type[P], fields: Mapping[str, Any]) -> P:
    """The parameters, or another model, of these fields.

    Raises:
        ValidationError: they are not of the types of the model. It holds few errors, whatever the fields hold.
    """
    params: P = _validator(kind).validate_python(fields)
    return params


@cache
def names(kind: type[Params]) -> frozenset[str]:
    """The names that a parameter may have, aliases among them."""
    all_names: set[str] = set()
    for name, field in kind.model_fields.items():
        alias = field.validation_alias
        choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
        all_names |= {name, *(choice for choice in choices if isinstance(choice, str))}
    return frozenset(all_names)


@cache
def _validator(kind: type[BaseModel]) -> SchemaValidator:
    # Pydantic would otherwise use the validators that it made with the classes, which collect every error.
    return SchemaValidator(_failing_fast(kind.__pydantic_core_schema__), _use_prebuilt=False)


def _failing_fast(schema: Any) -> Any:
    """The same schema, in which each collection stops at its first error, and no object has many unknown names."""
    if isinstance(schema, list | tuple):
        return type(schema)(map(_failing_fast, schema))
    if not isinstance(schema, dict):
        return schema
    changed = {name: part if name in _NO_SCHEMAS else _failing_fast(part) for name, part in schema.items()}
    kind = schema.get("type")
    if kind in _MANY:
        changed["fail_fast"] = True
    elif kind == "model" and schema["schema"].get("type") == "model-fields":
        ref = changed.pop("ref", None)
        changed = {"type": "function-before", "schema": changed, "function": _bound_names(schema["schema"]["fields"])}
        if ref is not None:
            changed["ref"] = ref
    return changed


def _bound_names(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "no-info", "function": _checker(frozenset(fields))}


def _checker(known_names: frozenset[str]) -> Callable[[Any], Any]:
    limit = len(known_names) + _SPARE_NAMES

    def check(value: Any) -> Any:
        if isinstance(value, dict) and len(value) > limit:
            unknown = [name for name in value if name not in known_names]
            examples = ", ".join(repr(str(name)[:40]) for name in unknown[:3])
            raise PydanticCustomError(
                "extra_forbidden", "{count} names are unknown: {shown}, ...", {"count": len(unknown), "shown": examples}
            )
        return value

    return check
