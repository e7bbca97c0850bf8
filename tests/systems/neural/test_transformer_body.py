from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from gluebench.benchmark import load_benchmark
from gluebench.systems.neural.model import MultiTaskModel
from gluebench.systems.neural.transformer_body import TransformerBody

pytestmark = pytest.mark.slow
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "a", "cat", "dog", "sees", "no", "one"]
PAIRS = [("the cat sees a dog", "no one"), ("a dog", "the dog sees the cat")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT of random weights and its tokeniser, saved as any model is."""
    transformers = pytest.importorskip("transformers", reason="needs the extra gluebench[hf]")
    made = tmp_path_factory.mktemp("bert")
    (made / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    transformers.BertTokenizerFast(str(made / "vocab.txt")).save_pretrained(made)
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=24,
        max_position_embeddings=32,
    )
    torch.manual_seed(0)
    transformers.BertModel(config).save_pretrained(made)
    return made


@pytest.fixture
def body(folder: Path) -> TransformerBody:
    return TransformerBody.from_name(folder, longest=12)


def test_features_are_the_first_tokens_state_whatever_the_batch(body: TransformerBody) -> None:
    items = body.eval().prepare(PAIRS)
    together = body(body.collate(items))
    assert together.shape == (2, body.dims[2]) == (2, 16)
    for item, row in zip(items, together, strict=True):
        fields = {name: torch.tensor([values]) for name, values in item.items()}
        states: Any = body.model(**fields).last_hidden_state
        assert torch.allclose(states[0, 0], row, atol=1e-6)


def test_a_pair_is_two_segments_and_long_ones_are_cut(body: TransformerBody) -> None:
    item, long = body.prepare([("the cat", "no"), ("the cat sees " * 9, "no one")])
    assert item["token_type_ids"] == [0, 0, 0, 0, 1, 1]
    assert (body.size(item), body.size(long)) == (6, 12)
    assert body.prepare([]) == []


def test_the_multi_task_heads_train_on_it(body: TransformerBody) -> None:
    glue = load_benchmark("glue")
    model = MultiTaskModel(body, [glue.task("RTE"), glue.task("CoLA"), glue.task("STS-B")])
    for task, inputs in (("RTE", PAIRS), ("CoLA", [("the cat",), ("cat the",)]), ("STS-B", PAIRS)):
        batch = body.collate(body.prepare(inputs))
        model.loss(task, batch, torch.zeros(len(inputs), dtype=torch.long)).backward()
    assert all(each.grad is not None for name, each in body.model.named_parameters() if "pooler" not in name)


def test_a_tokeniser_that_cannot_fill_up_is_refused(body: TransformerBody) -> None:
    class Bare:
        pad_token = None

    with pytest.raises(ValueError, match="no padding token"):
        TransformerBody(body.model, Bare())
