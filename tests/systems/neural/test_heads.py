from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from gluebench.benchmark import Task, UnknownNameError, load_benchmark
from gluebench.systems.neural.model import Body, Head, MultiTaskModel, to_device
from gluebench.systems.neural.token_vectors import TokenIds
from gluebench.systems.weights.recurrent import packing

GLUE = load_benchmark("glue")
MNLI, STS, COLA = (GLUE.task(name) for name in ("MNLI", "STS-B", "CoLA"))


class Letters(Body):
    """A body of four features: how often four letters stand in the texts."""

    def __init__(self) -> None:
        super().__init__()
        self.dims = {1: 4, 2: 4}

    def prepare(self, inputs: Sequence[tuple[str, ...]]) -> list[Any]:
        return ["".join(texts) for texts in inputs]

    def lengths(self, item: str) -> tuple[int, ...]:
        return (len(item),)

    def collate(self, items: Sequence[str]) -> Tensor:
        return torch.tensor([[float(item.count(letter)) for letter in "abcd"] for item in items])

    def forward(self, batch: Tensor) -> Tensor:
        return batch


def batch(*texts: str) -> Tensor:
    body = Letters()
    return body.collate(body.prepare([(text,) for text in texts]))


def test_a_classifier_is_linear_tanh_linear_with_512_hidden_and_no_dropout() -> None:
    kinds = [type(layer).__name__ for layer in Head(MNLI, 4).layers.children()]
    assert kinds == ["Linear", "Tanh", "Linear"]
    shapes = [tuple(each.shape) for each in Head(MNLI, 4).parameters()]
    assert shapes == [(512, 4), (512,), (3, 512), (3,)]


def test_a_task_of_scores_has_one_linear_layer() -> None:
    assert [tuple(each.shape) for each in Head(STS, 12000).parameters()] == [(1, 12000), (1,)]


def test_outputs_have_one_column_for_each_class_and_one_number_for_a_score() -> None:
    model = MultiTaskModel(Letters(), [MNLI, STS, COLA], hidden=5)
    assert model("MNLI", batch("ab", "c")).shape == (2, 3)
    assert model("STS-B", batch("ab", "c", "d")).shape == (3,)


def test_targets_are_codes_in_the_manifests_order_and_scores_as_they_are() -> None:
    model = MultiTaskModel(Letters(), [MNLI, STS])
    assert model.head("MNLI").targets(list(MNLI.words)).tolist() == [0, 1, 2]
    assert model.head("STS-B").targets([0.0, 5.0, 3.25]).tolist() == [0, 5, 3.25]


@pytest.mark.parametrize(
    ("task", "label"), [(MNLI, "yes"), (MNLI, None), (MNLI, 1.0), (STS, "3"), (STS, None)]
)
def test_a_label_that_cannot_be_learned_is_named(task: Task, label: Any) -> None:
    with pytest.raises(ValueError, match=f"{task.name}: the label {label!r} cannot be learned; expected"):
        Head(task, 4).targets([label])


def test_the_loss_of_classes_is_the_mean_cross_entropy() -> None:
    outputs = torch.tensor([[0.0, math.log(2), 0.0], [math.log(6), 0.0, 0.0]])
    found = Head(MNLI, 4).loss(outputs, torch.tensor([1, 1]))
    assert float(found) == pytest.approx((math.log(2) + math.log(8)) / 2)


def test_the_loss_of_scores_is_the_squared_error_of_a_fifth_of_the_score() -> None:
    found = Head(STS, 4).loss(torch.tensor([0.5, 1.2]), torch.tensor([5.0, 3.0]))
    assert float(found) == pytest.approx((0.5**2 + 0.6**2) / 2)


def test_another_range_of_scores_is_learned_as_places_in_it() -> None:
    head = Head(STS._replace(score_range=(-1.0, 3.0)), 4)
    assert float(head.loss(torch.tensor([0.25]), torch.tensor([0.0]))) == 0
    assert head.decode(torch.tensor([0.25, 0.0, 1.0, 9.0, -9.0])) == [0, -1, 3, 3, -1]


def test_outputs_are_decoded_to_words_and_to_scores_within_the_range() -> None:
    model = MultiTaskModel(Letters(), [MNLI, STS])
    outputs = torch.tensor([[0.0, 2, 1], [5, 1, 1], [0, 0, 1]])
    assert model.head("MNLI").decode(outputs) == [MNLI.words[1], MNLI.words[0], MNLI.words[2]]
    assert model.head("STS-B").decode(torch.tensor([0.5, 1.3, -0.2])) == [2.5, 5.0, 0.0]


def loss(model: MultiTaskModel, task: str, texts: Tensor, targets: Tensor) -> Tensor:
    return model.head(task).loss(model(task, texts), targets)


def test_a_step_on_one_task_moves_its_head_alone() -> None:
    model = MultiTaskModel(Letters(), [MNLI, COLA])
    loss(model, "CoLA", batch("aab", "cd"), torch.tensor([0, 1])).backward()
    assert all(each.grad is not None for each in model.head("CoLA").parameters())
    assert all(each.grad is None for each in model.head("MNLI").parameters())


def test_a_small_task_is_learnt() -> None:
    torch.manual_seed(3)
    model = MultiTaskModel(Letters(), [COLA, STS], hidden=8)
    texts = ["aa", "ab", "a", "cd", "dd", "c"]
    words = [COLA.words[0]] * 3 + [COLA.words[1]] * 3
    scores: list[str | float] = [5.0, 5.0, 5.0, 1.0, 1.0, 1.0]
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(60):
        optimizer.zero_grad()
        of_words = loss(model, "CoLA", batch(*texts), model.head("CoLA").targets(words))
        (of_words + loss(model, "STS-B", batch(*texts), model.head("STS-B").targets(scores))).backward()
        optimizer.step()
    assert model.head("CoLA").decode(model("CoLA", batch(*texts))) == words
    assert model.head("STS-B").decode(model("STS-B", batch("aa", "cd"))) == pytest.approx([5, 1], abs=0.6)


def test_names_of_tasks_may_be_anything() -> None:
    tasks = [COLA._replace(name=name) for name in ("train", "a.b", "a%2Eb", "keys", "")]
    model = MultiTaskModel(Letters(), tasks, hidden=2)
    assert [model.head(task.name).task.name for task in tasks] == ["train", "a.b", "a%2Eb", "keys", ""]
    assert len(model.state_dict()) == 20


def test_a_task_without_a_head_is_named() -> None:
    model = MultiTaskModel(Letters(), [MNLI])
    with pytest.raises(UnknownNameError, match="no head is called 'mnly'"):
        model("mnly", batch("a"))


def test_a_task_the_body_cannot_read_is_refused() -> None:
    with pytest.raises(ValueError, match="CoLA has 3 texts; the body takes"):
        MultiTaskModel(Letters(), [COLA._replace(columns=("one", "two", "three"))])


def test_a_batch_moves_with_all_its_tensors_and_keeps_its_shape() -> None:
    given = {"ids": TokenIds(torch.zeros(1, 2), torch.ones(1), packing([1])), "words": (["a"],), "none": None}
    found = to_device(given, "meta")
    assert isinstance(found["ids"], TokenIds)
    packed = found["ids"].packed
    assert {each.device.type for each in (*found["ids"][:2], packed.order, packed.inverse)} == {"meta"}
    assert packed.lengths == [1]
    assert (found["words"], found["none"]) == ((["a"],), None)
