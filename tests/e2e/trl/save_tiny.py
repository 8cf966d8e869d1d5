"""Saves the tiny model to the given folder.

`save_tiny.py FOLDER`          without training: its texts make no sense
`save_tiny.py FOLDER TEXTS`    it has learnt by heart what a file of JSON has, a list of `[given, said]`
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from trl.chat_template_utils import qwen3_chat_template

from tests.e2e.trl.tiny import learn_by_heart, make_model, make_tokenizer

if __name__ == "__main__":
    tokenizer = make_tokenizer(qwen3_chat_template)
    model = make_model(tokenizer)
    for file in sys.argv[2:]:
        learn_by_heart(model, tokenizer, json.loads(Path(file).read_text()), 250)
    tokenizer.save_pretrained(sys.argv[1])
    model.save_pretrained(sys.argv[1])
