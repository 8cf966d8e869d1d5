"""Makes tiny classifiers with drawn weights, the same each time: `models.py FOLDER`. `scalar` gives one value, `classes` two, and
`steps` two for each token.
"""

import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertForTokenClassification,
    PreTrainedTokenizerFast,
)

SEPARATOR = "<extra_0>"
_KINDS = (
    ("scalar", BertForSequenceClassification, ["reward"]),
    ("classes", BertForSequenceClassification, ["bad", "good"]),
    ("steps", BertForTokenClassification, ["bad", "good"]),
)


def main(folder: Path) -> None:
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", SEPARATOR, *(chr(code) for code in range(33, 127))]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]")),
        pad_token="[PAD]",
        unk_token="[UNK]",
        additional_special_tokens=[SEPARATOR],
        model_max_length=512,
    )
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.chat_template = "{% for m in messages %}[{{ m['role'] }}] {{ m['content'] }} {% endfor %}"
    sizes = {"vocab_size": len(tokens), "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    for name, kind, labels in _KINDS:
        torch.manual_seed(len(labels))
        config = BertConfig(**sizes, intermediate_size=64, id2label=dict(enumerate(labels)), initializer_range=0.5)
        kind(config).save_pretrained(folder / name)
        tokenizer.save_pretrained(folder / name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
