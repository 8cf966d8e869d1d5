"""Gives workers their tokenizers."""

from typing import Any

from tiny_tokenizer import tiny


def default_tokenizer_provider(model_args: Any) -> Any:
    assert model_args.model_name_or_path == "tiny"
    return tiny()
