"""A pre-trained encoder as a body: transformers' own model is the oracle of its features."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from systems.adapters import tiny

from gluebench.systems.training.settings import TransformerSpec

transformers = pytest.importorskip("transformers", reason="transformers is not installed (gluebench[hf])")
from gluebench.systems.neural.transformer import (  # noqa: E402
    TransformerBody,
    pretrained_body,
    save_configuration,
    untrained_body,
)

PAIRS = [("tom saw the red house", "ann is in the house"), ("a tree", "two of the blue tree is not one")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny.body(tmp_path_factory.mktemp("bert")))


def body_of(folder: str, **options: Any) -> TransformerBody:
    return pretrained_body(folder, TransformerSpec(folder, **options))


@pytest.mark.parametrize("pooling", ["first", "mean", "last"])
def test_features_are_the_states_of_each_pair_by_itself(folder: str, pooling: str) -> None:
    """One pair at a time needs no padding, so what the batch adds must change nothing."""
    body = body_of(folder, pooling=pooling).eval()
    features = body(body.collate(body.prepare(PAIRS)))
    encoder = transformers.AutoModel.from_pretrained(folder).eval()
    words = transformers.AutoTokenizer.from_pretrained(folder)
    for row, (first, second) in enumerate(PAIRS):
        states = encoder(**words(first, second, return_tensors="pt")).last_hidden_state[0]
        expected = {"first": states[0], "mean": states.mean(0), "last": states[-1]}[pooling]
        assert torch.allclose(features[row], expected, atol=1e-6)


def test_the_chosen_token_is_never_padding(folder: str) -> None:
    from gluebench.systems.neural.transformer import _pool

    states = torch.arange(8.0).reshape(2, 4, 1)
    left = torch.tensor([[0, 1, 1, 1], [1, 1, 1, 1]])
    right = left.flip(1)
    assert _pool(states, left, "first").flatten().tolist() == [1, 4]
    assert _pool(states, right, "last").flatten().tolist() == [2, 7]
    assert _pool(states, left, "mean").flatten().tolist() == [2, 5.5]


def test_a_frozen_encoder_learns_nothing_and_has_no_dropout(folder: str) -> None:
    body = body_of(folder, tuning="frozen", dropout=0.0).train()
    assert not any(weights.requires_grad for weights in body.parameters())
    batch = body.collate(body.prepare(PAIRS))
    assert torch.equal(body(batch), body(batch))
    full = body_of(folder, dropout=0.0).train()
    assert all(weights.requires_grad for weights in full.parameters())
    assert not torch.equal(full(batch), full(batch))  # the encoder's own dropout


def test_lora_trains_its_adapters_alone(folder: str) -> None:
    pytest.importorskip("peft", reason="peft is not installed (gluebench[lora])")
    body = body_of(folder, tuning="lora", lora_rank=2)
    trained = {name for name, weights in body.named_parameters() if weights.requires_grad}
    assert trained
    assert all("lora_" in name for name in trained)


def test_checkpointing_changes_no_gradient(folder: str) -> None:
    gradients = []
    for checkpointing in (False, True):
        body = body_of(folder, gradient_checkpointing=checkpointing).train()
        switched = [getattr(part, "gradient_checkpointing", False) for part in body.modules()]
        assert any(switched) == checkpointing
        torch.manual_seed(3)
        body(body.collate(body.prepare(PAIRS))).square().sum().backward()
        gradients.append([weights.grad for weights in body.parameters()])
    assert all(torch.equal(one, other) for one, other in zip(*gradients, strict=True))


def test_long_pairs_are_cut_and_counted(folder: str) -> None:
    body = body_of(folder, longest=12)
    pairs = [PAIRS[0], ("a tree", "two of the blue tree is not"), ("a", "b")]
    items = body.prepare(pairs)
    assert [body.lengths(item) for item in items] == [(12,), (12,), (5,)]
    assert body.count_cut(pairs, items) == 1  # the second has exactly twelve tokens
    assert body.length_advice == "--set longest=N keeps more"
    whole = body_of(folder, longest=500)
    assert whole.longest == 64  # as many as the model has positions
    assert whole.length_advice == "the model takes no more"


def test_a_body_is_made_again_from_its_configuration(folder: str, tmp_path: Path) -> None:
    body = body_of(folder).eval()
    save_configuration(body, tmp_path)
    assert not list(tmp_path.glob("*.safetensors"))
    again = untrained_body(tmp_path, TransformerSpec("of no use here")).eval()
    again.load_state_dict(body.state_dict())
    batch = body.collate(body.prepare(PAIRS))
    assert torch.equal(again(again.collate(again.prepare(PAIRS))), body(batch))
