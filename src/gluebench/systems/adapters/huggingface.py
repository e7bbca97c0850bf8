"""Checkpoints of Hugging Face's: fine-tuned ones as they are, others fine-tuned task by task.

The defaults are those that GLUE is usually fine-tuned with (Devlin et al. 2019): AdamW at 2e-5 for three
epochs of batches of 32, texts cut to 128 tokens, the rate rising linearly over the first tenth of the steps
and falling linearly to 0. The last epoch's weights are used; the dev split chooses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from gluebench.benchmark import Task
from gluebench.data import Example
from gluebench.systems import targets
from gluebench.systems.adapters import ModelError
from gluebench.systems.adapters.label_words import mapped
from gluebench.systems.adapters.transformer import (
    Encoding,
    Tokens,
    as_scores,
    expect_path_or_name,
    load_model,
    loading,
    logits,
)
from gluebench.systems.protocols import Counting, silent

HEADED = "ForSequenceClassification"
LARGEST_GRADIENT = 1.0


class FineTuning(NamedTuple):
    """How a checkpoint is trained on a task."""

    learning_rate: float = 2e-5
    epochs: int = 3
    batch_size: int = 32
    warm_up: float = 0.1
    """Share of the steps over which the rate rises."""
    weight_decay: float = 0.01


class FineTunedCheckpoint:
    """Answers with a checkpoint as it is; its labels are understood by their words."""

    def __init__(
        self,
        name: str,
        tasks: Sequence[Task],
        *,
        labels: Mapping[str, str] | None = None,
        longest: int = 128,
        batch_size: int = 64,
        device: str = "cpu",
        counting: Counting = silent,
    ) -> None:
        """Raises ModelError with everything that keeps it from answering one of the tasks."""
        expect_path_or_name(name)
        self._meanings = _meanings(name, tasks, labels or {})
        self._tokens = Tokens(name, longest=longest)
        self._device = torch.device(device)
        self._model = _padded(load_model(name), self._tokens).to(self._device)
        self._batch_size = batch_size
        self._counting = counting

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """The task's word whose labels are most probable together, or the score."""
        if not examples:
            return []
        outputs = logits(
            self._model,
            self._tokens,
            self._tokens.encode(task, examples),
            batch_size=self._batch_size,
            device=self._device,
            advance=self._counting("predicted", "examples"),
        )
        if not task.labels:
            return [*as_scores(task, outputs)]
        places = torch.tensor([task.words.index(word) for word in self._meanings[task.name]])
        shares = torch.zeros(len(outputs), len(task.words))
        shares.index_add_(1, places, outputs.softmax(dim=1))
        return [task.words[code] for code in shares.argmax(dim=1).tolist()]


class FineTunedHere:
    """Trains a copy of a checkpoint on each task, then answers it."""

    def __init__(
        self,
        name: str,
        settings: FineTuning | None = None,
        *,
        longest: int = 128,
        seed: int = 0,
        device: str = "cpu",
        counting: Counting = silent,
    ) -> None:
        """Raises ModelError for a checkpoint that cannot be had."""
        expect_path_or_name(name)
        self._name = name
        self._settings = settings or FineTuning()
        self._seed = seed
        self._device = torch.device(device)
        self._counting = counting
        self._tokens = Tokens(name, longest=longest)
        self._models: dict[str, nn.Module] = {}

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Train a new copy; dev is not looked at."""
        expected = _targets(task, train)
        encodings = self._tokens.encode(task, train)
        devices = [self._device] if self._device.type == "cuda" else []
        with torch.random.fork_rng(devices):
            torch.manual_seed(self._seed)
            model = load_model(self._name, num_labels=len(task.words) or 1, ignore_mismatched_sizes=True)
            self._models[task.name] = _padded(model, self._tokens).to(self._device)
            self._train(self._models[task.name], encodings, expected)

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """The most probable word, or the score cut to the task's range."""
        if not examples:
            return []
        outputs = logits(
            self._models[task.name],
            self._tokens,
            self._tokens.encode(task, examples),
            batch_size=2 * self._settings.batch_size,
            device=self._device,
            advance=self._counting("predicted", "examples"),
        )
        if not task.labels:
            return [*as_scores(task, outputs)]
        return [task.words[code] for code in outputs.argmax(dim=1).tolist()]

    def forget(self, task: Task) -> None:
        """Let the task's model go: it has answered all it was to answer."""
        self._models.pop(task.name, None)

    def _train(self, model: nn.Module, encodings: Sequence[Encoding], expected: Tensor) -> None:
        settings = self._settings
        steps = settings.epochs * -(-len(encodings) // settings.batch_size)
        optimiser = torch.optim.AdamW(
            _groups(model, settings.weight_decay), lr=settings.learning_rate, weight_decay=0.0
        )
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimiser, lambda step: rate(step, steps, settings.warm_up)
        )
        advance = self._counting("trained", "steps")
        model.train()
        for step, rows in enumerate(self._batches(len(encodings)), 1):
            batch = self._tokens.batch([encodings[row] for row in rows], self._device)
            loss = _loss(model(**batch).logits, expected[rows].to(self._device))
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(model.parameters(), LARGEST_GRADIENT)
            optimiser.step()
            schedule.step()
            advance(step, steps)

    def _batches(self, count: int) -> Iterator[list[int]]:
        """Rows of each batch, every epoch in another order."""
        for _ in range(self._settings.epochs):
            order = torch.randperm(count).tolist()
            for start in range(0, count, self._settings.batch_size):
                yield order[start : start + self._settings.batch_size]


def rate(step: int, steps: int, warm_up: float) -> float:
    """Factor of the learning rate after so many steps: up to 1 and down to 0, both straight."""
    rising = max(1, round(warm_up * steps))
    return min((step + 1) / rising, (steps - step) / max(1, steps - rising), 1.0)


def _loss(outputs: Tensor, expected: Tensor) -> Tensor:
    if expected.is_floating_point():
        return nn.functional.mse_loss(outputs[:, 0].float(), expected)
    return nn.functional.cross_entropy(outputs.float(), expected)


def _targets(task: Task, train: Sequence[Example]) -> Tensor:
    if not task.labels:
        return torch.tensor(targets.numbers(task, train), dtype=torch.float32)
    codes = {word: code for code, word in enumerate(task.words)}
    return torch.tensor([codes[word] for word in targets.labels(task, train)])


def _groups(model: nn.Module, decay: float) -> list[dict[str, Any]]:
    """Biases and the scales of normalisation are not pulled towards 0."""
    matrices = [tensor for tensor in model.parameters() if tensor.requires_grad and tensor.ndim > 1]
    others = [tensor for tensor in model.parameters() if tensor.requires_grad and tensor.ndim <= 1]
    return [{"params": matrices, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]


def _padded(model: nn.Module, tokens: Tokens) -> nn.Module:
    """The model with its padding token set: models that read from left to right need it."""
    config: Any = model.config
    if getattr(config, "pad_token_id", None) is None:
        config.pad_token_id = tokens.pad_id
    return model


def _meanings(name: str, tasks: Sequence[Task], given: Mapping[str, str]) -> dict[str, list[str]]:
    """Task to its word for each label. Raises ModelError for all tasks that cannot be answered."""
    from transformers import AutoConfig

    with loading(name):
        config: Any = AutoConfig.from_pretrained(name)
    if not any(HEADED in architecture for architecture in config.architectures or ()):
        raise ModelError(
            f"hf:{name}: has no head that answers whole texts ({', '.join(config.architectures or ['?'])}); "
            "train one on each task with --fine-tune"
        )
    names = [str(config.id2label[code]) for code in sorted(config.id2label)]
    meanings, problems = {}, []
    for task in tasks:
        try:
            meanings[task.name] = _meaning(task, names, given, model=f"hf:{name}")
        except ModelError as error:
            problems.append(str(error))
    if problems:
        raise ModelError("\n".join(problems))
    return meanings


def _meaning(task: Task, names: Sequence[str], given: Mapping[str, str], *, model: str) -> list[str]:
    if task.labels and len(names) > 1:
        return list(mapped(task, names, given, model=model).values())
    if not task.labels and len(names) == 1:
        return []
    gives = f"one of {', '.join(names)}" if len(names) > 1 else "a number"
    expected = f"one of {', '.join(task.words)}" if task.labels else "a number"
    raise ModelError(
        f"{task.name}: {model} answers {gives}; expected {expected}. "
        "Leave the task out (--tasks), or fine-tune the model on it (--fine-tune)"
    )
