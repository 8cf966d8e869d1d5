"""Saves the tiny model without training to the given folder. Its texts make no sense."""

from __future__ import annotations

import sys

from trl.chat_template_utils import qwen3_chat_template

from tests.e2e.trl.tiny import make_model, make_tokenizer

if __name__ == "__main__":
    tokenizer = make_tokenizer(qwen3_chat_template)
    tokenizer.save_pretrained(sys.argv[1])
    make_model(tokenizer).save_pretrained(sys.argv[1])
