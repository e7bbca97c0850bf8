from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from gluebench.systems.neural.bilstm import BiLstmBody
from gluebench.systems.neural.token_vectors import CoveVectors, ElmoVectors, ScalarMix, TableVectors
from gluebench.systems.text.vocabulary import Vocabulary
from gluebench.systems.weights.recurrent import PackedOrder

SENTENCES = ["the cat sees", "no", ""]


class Layers(nn.Module):
    """Stands in ELMo's place: layer k of a token is k plus the token's length, times a weight."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(()))
        self.seen: list[list[list[str]]] = []

    def numbers(self, tokens: list[str]) -> list[str]:
        return tokens

    def batch(self, sentences: list[list[str]]) -> list[list[str]]:
        return list(sentences)

    def forward(self, tokens: list[list[str]]) -> tuple[Tensor, Tensor]:
        self.seen.append(tokens)
        lengths = torch.tensor([len(sentence) for sentence in tokens])
        found = torch.zeros(3, len(tokens), int(lengths.max()), 4)
        for row, sentence in enumerate(tokens):
            for at, token in enumerate(sentence):
                for layer in range(3):
                    found[layer, row, at] = layer + len(token)
        return self.weight * found, lengths


class Doubled(nn.Module):
    """Stands in CoVe's place: the vectors twice, times a weight."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(10.0))

    def forward(self, vectors: Tensor, lengths: Tensor, packed: PackedOrder) -> Tensor:
        assert lengths.tolist() == [packed.lengths[at] for at in packed.inverse.tolist()]
        return self.weight * torch.cat([vectors, vectors], dim=2)


def test_a_table_gives_each_word_its_row_and_unknown_ones_row_one(vectors: TableVectors) -> None:
    found = vectors(vectors.collate(vectors.prepare(["the cat", "cat unheard dog"])))
    assert found.lengths.tolist() == [2, 3]
    assert torch.equal(found.vectors[0, :2], vectors.table[[2, 4]])
    assert torch.equal(found.vectors[1], vectors.table[[4, 1, 5]])


def test_a_table_of_another_size_than_its_vocabulary_is_refused() -> None:
    with pytest.raises(ValueError, match="3 rows for a vocabulary of 4 words"):
        TableVectors(Vocabulary(["a", "b"]), np.zeros((3, 2), dtype=np.float32), str.split)


def test_the_mix_is_the_plain_mean_at_first() -> None:
    layers = torch.randn(3, 2, 4, 5)
    assert torch.allclose(ScalarMix()(layers), layers.mean(dim=0), atol=1e-6)


def test_the_mix_of_layers_is_their_weighted_sum_times_gamma() -> None:
    mix = ScalarMix()
    with torch.no_grad():
        mix.weights.copy_(torch.tensor([0.0, np.log(2), np.log(5)]))
        mix.gamma.fill_(4)
    assert mix(torch.tensor([8.0, 16.0, 24.0])).item() == pytest.approx(4 * (8 / 8 + 16 * 2 / 8 + 24 * 5 / 8))


def test_elmo_takes_words_and_trains_its_mix_alone() -> None:
    elmo = Layers()
    vectors = ElmoVectors(elmo, 4, str.split, dropout=0)
    found = vectors(vectors.collate(vectors.prepare(SENTENCES)))
    assert elmo.seen == [[["the", "cat", "sees"], ["no"], [""]]]
    assert found.lengths.tolist() == [3, 1, 1]
    assert torch.allclose(found.vectors[:, 0, 0], torch.tensor([4.0, 3, 1]))
    found.vectors.sum().backward()
    trained = {name: each.grad is not None for name, each in vectors.named_parameters()}
    assert trained == {"elmo.weight": False, "mix.weights": True, "mix.gamma": True}


def test_elmo_has_dropout_of_its_own_while_training_and_its_model_never_trains() -> None:
    vectors = ElmoVectors(Layers(), 4, str.split).train()
    assert vectors.dropout.p == 0.5
    assert not vectors.elmo.training
    batch = vectors.collate(vectors.prepare(["cat " * 40] * 8))
    assert 0.4 < (vectors(batch).vectors == 0).float().mean() < 0.6
    assert not (vectors.eval()(batch).vectors == 0).any()


def test_elmo_that_carries_its_state_gets_the_first_sentences_then_the_second_ones() -> None:
    elmo = Layers()
    body = BiLstmBody(ElmoVectors(elmo, 4, str.split, carry=True), 3)
    body(body.collate(body.prepare([("one two three", "four"), ("five", "six seven")])))
    assert elmo.seen == [[["one", "two", "three"], ["five"]], [["four"], ["six", "seven"]]]


def test_cove_stands_behind_the_words_and_is_frozen(vectors: TableVectors) -> None:
    both = CoveVectors(vectors, Doubled(), dim=16)
    assert both.dim == 24
    batch = both.collate(both.prepare(SENTENCES))
    found, words = both(batch), vectors(batch)
    assert torch.equal(found.vectors[..., :8], words.vectors)
    assert torch.equal(found.vectors[..., 8:16], 10 * words.vectors)
    assert not [name for name, each in both.named_parameters() if each.requires_grad]
    assert not both.train().cove.training


def test_a_bilstm_over_cove_learns(vectors: TableVectors) -> None:
    body = BiLstmBody(CoveVectors(vectors, Doubled(), dim=16), 3)
    features = body(body.collate(body.prepare([("the cat", "a dog"), ("no one", "every mouse sees")])))
    assert features.shape == (2, body.dims[2])
    features.sum().backward()
    assert body.encoder.lstm.weight_ih_l0.grad is not None
