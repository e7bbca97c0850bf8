"""Models small enough to be built in a test: a BERT with a vocabulary of the sample's words."""

from __future__ import annotations

from pathlib import Path

import pytest

TEXT = "the a of in is was not and to one two three four more less than tom ann saw red blue house tree . ?"
WORDS = TEXT.split()
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def tokenizer(folder: Path, words: str = TEXT):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed (gluebench[hf])")
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "vocab.txt"
    file.write_text("\n".join(SPECIAL + words.split()) + "\n")
    return transformers.BertTokenizerFast(str(file))


def config(layers: int = 1, **more):
    import transformers

    more.setdefault("vocab_size", len(SPECIAL + WORDS))
    return transformers.BertConfig(
        hidden_size=16,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        **more,
    )


def body(folder: Path, words: str = TEXT, **more) -> Path:
    """A BERT without a head."""
    import torch

    pieces = tokenizer(folder, words)
    import transformers

    torch.manual_seed(1)
    transformers.BertModel(config(vocab_size=len(pieces), **more)).save_pretrained(folder)
    pieces.save_pretrained(folder)
    return folder


def classifier(folder: Path, labels: list[str], *, always: int | None = None, bias: float = 5.0) -> Path:
    """One with a head; `always` is the position of the label it answers whatever it reads."""
    import torch

    words = tokenizer(folder)
    import transformers

    names = dict(enumerate(labels))
    torch.manual_seed(1)
    model = transformers.BertForSequenceClassification(
        config(num_labels=len(labels), id2label=names, label2id={name: code for code, name in names.items()})
    )
    if always is not None:
        torch.nn.init.zeros_(model.classifier.weight)
        torch.nn.init.zeros_(model.classifier.bias)
        model.classifier.bias.data[always] = bias
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def sentence_transformer(folder: Path) -> Path:
    library = pytest.importorskip(
        "sentence_transformers", reason="sentence-transformers is not installed (gluebench[hf])"
    )
    from sentence_transformers import models

    words = models.Transformer(str(body(folder.with_name(folder.name + "-body"))), max_seq_length=32)
    pooled = models.Pooling(words.get_embedding_dimension())
    library.SentenceTransformer(modules=[words, pooled], device="cpu").save(str(folder))
    return folder


def causal(folder: Path, texts: list[str], *, longest: int = 512) -> Path:
    """A small GPT-2 with byte-pair tokens of these texts, whose weights spread its answers."""
    import torch

    transformers = pytest.importorskip("transformers", reason="transformers is not installed (gluebench[hf])")
    from tokenizers import ByteLevelBPETokenizer

    pieces = ByteLevelBPETokenizer()
    pieces.train_from_iterator(texts, vocab_size=600, min_frequency=1)
    words = transformers.PreTrainedTokenizerFast(tokenizer_object=pieces._tokenizer, eos_token="<|end|>")
    torch.manual_seed(5)
    sizes = {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": longest, "initializer_range": 0.5}
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=len(words), **sizes))
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder
