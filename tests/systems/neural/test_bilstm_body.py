from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch
from oracles.sentence_models import Floats, attended, bilstm, pair
from torch import nn

from gluebench.systems.neural.bilstm import BiLstmBody
from gluebench.systems.neural.token_vectors import TableVectors

PAIRS = [
    ("the cat sees a mouse today", "no dog"),
    ("one", "every dog hears the cat no one sees"),
    ("a mouse", "a mouse"),
    ("the unheard cat", ""),
]


def weights_of(module: nn.Module) -> dict[str, Floats]:
    return {name: value.detach().double().numpy() for name, value in module.named_parameters()}


def rows(vectors: TableVectors, text: str) -> Floats:
    ids = vectors.vocabulary.ids(text.split()) or [1]
    return vectors.table.double().numpy()[ids]


def features(body: BiLstmBody, inputs: list[tuple[str, ...]]) -> torch.Tensor:
    found: torch.Tensor = body(body.collate(body.prepare(inputs)))
    return found


def test_features_of_pairs_and_of_single_sentences_are_those_of_the_formula(
    vectors: TableVectors, body: BiLstmBody
) -> None:
    weights = weights_of(body.eval().encoder.lstm)
    encoded = [[bilstm(rows(vectors, text), weights, 2).max(axis=0) for text in each] for each in PAIRS]
    expected = [pair(*each) for each in encoded]
    np.testing.assert_allclose(features(body, PAIRS).detach(), expected, atol=1e-5)
    singles = features(body, [(first,) for first, _ in PAIRS])
    np.testing.assert_allclose(singles.detach(), [first for first, _ in encoded], atol=1e-5)
    assert (singles.shape[1], expected[0].size) == (body.dims[1], body.dims[2])


def test_features_with_attention_are_those_of_the_formula(
    vectors: TableVectors, attentive: BiLstmBody
) -> None:
    assert attentive.eval().modeling is not None
    weights, modeling = weights_of(attentive.encoder.lstm), weights_of(attentive.modeling.lstm)
    for texts, found in zip(PAIRS, features(attentive, PAIRS).detach(), strict=True):
        u, v = (bilstm(rows(vectors, text), weights, 2) for text in texts)
        sides = [bilstm(attended(one, other), modeling, 1).max(axis=0) for one, other in ((u, v), (v, u))]
        np.testing.assert_allclose(found, pair(*sides), atol=1e-5)


def test_attention_leaves_single_sentences_as_they_are(body: BiLstmBody, attentive: BiLstmBody) -> None:
    attentive.encoder.load_state_dict(body.encoder.state_dict())
    single = [("the cat",), ("no dog hears",)]
    assert torch.allclose(features(body.eval(), single), features(attentive.eval(), single), atol=1e-6)


def test_features_do_not_depend_on_the_batch(body: BiLstmBody) -> None:
    together = features(body.eval(), PAIRS)
    alone = torch.cat([features(body, [each]) for each in PAIRS])
    assert torch.allclose(together, alone, atol=1e-6)


def test_with_padding_counted_a_vector_depends_on_the_longest_of_its_batch(vectors: TableVectors) -> None:
    body = BiLstmBody(vectors, 6, pool_padding=True).eval()
    short, long = ("no dog",), ("every dog hears the cat",)
    alone, beside = features(body, [short])[0], features(body, [short, long])[0]
    assert torch.allclose(beside, alone.clamp(min=0))
    assert not torch.allclose(beside, alone)


def test_a_sentence_is_cut_at_40_tokens(vectors: TableVectors, body: BiLstmBody) -> None:
    (item,) = body.prepare([("cat " * 41, "dog " * 39)])
    assert body.lengths(item) == (40, 39)


def test_prepared_examples_can_be_pickled(body: BiLstmBody) -> None:
    items = pickle.loads(pickle.dumps(body.prepare(PAIRS)))
    assert torch.allclose(body.eval()(body.collate(items)), features(body, PAIRS), atol=1e-6)


def test_dropout_falls_on_vectors_and_on_states_before_they_are_pooled(body: BiLstmBody) -> None:
    calls: list[tuple[int, ...]] = []
    body.dropout.register_forward_hook(lambda *given: calls.append(tuple(given[2].shape)))
    features(body, [("the cat", "no dog")])
    assert body.dropout.p == 0.2
    assert calls == [(2, 2, 8), (2, 2, 12)]  # both sentences together: vectors, then states
    assert not body.encoder.lstm.dropout


def test_dropout_with_attention_spares_the_states_that_are_attended_to(attentive: BiLstmBody) -> None:
    widths: list[int] = []
    attentive.dropout.register_forward_hook(lambda *given: widths.append(given[2].shape[2]))
    features(attentive, [("the cat", "no dog")])
    assert widths == [8, 8, 24, 12, 24, 12]  # vectors of both; then for either side [u; context], states


def test_the_same_seed_gives_the_same_weights_features_and_gradients(vectors: TableVectors) -> None:
    def run(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
        torch.manual_seed(seed)
        body = BiLstmBody(vectors, 6)
        found = features(body, PAIRS)
        found.sum().backward()
        gradient = body.encoder.lstm.weight_hh_l0.grad
        assert gradient is not None
        return found, gradient

    one, again, other = (run(seed) for seed in (7, 7, 8))
    for found, repeated, different in zip(one, again, other, strict=True):
        assert torch.allclose(found, repeated, atol=1e-5)
        assert not torch.allclose(found, different, atol=1e-3)


def test_the_table_is_not_trained(body: BiLstmBody) -> None:
    assert not any("table" in name for name, _ in body.named_parameters())
    assert "vectors.table" in body.state_dict()


def test_examples_of_three_texts_are_refused(body: BiLstmBody) -> None:
    with pytest.raises(ValueError, match="3 texts; expected one or two"):
        body.collate(body.prepare([("a", "b", "c")]))
