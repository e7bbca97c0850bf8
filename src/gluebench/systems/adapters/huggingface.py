"""Hugging Face checkpoints: already fine-tuned, fine-tuned here on each task, or used as encoders.

The defaults are those that GLUE is usually fine-tuned with (Devlin et al. 2019): AdamW at 2e-5 for three
epochs of batches of 32, texts truncated to 128 tokens, the rate rising linearly over the first tenth of the
steps and falling linearly to 0. The last epoch's weights are used; the dev split is not used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gluebench.benchmark import Task
from gluebench.data import Example
from gluebench.systems import targets
from gluebench.systems.adapters import ModelError
from gluebench.systems.adapters.label_words import mapped
from gluebench.systems.protocols import Counting, silent

HEADED = "ForSequenceClassification"
LARGEST_GRADIENT = 1.0
SENTENCES = 64
"""Batch size for models of sentence-transformers."""
Encoding = Mapping[str, list[int]]
"""The tokenizer's fields for one example."""


class FineTuning(NamedTuple):
    """How a checkpoint is trained on a task."""

    learning_rate: float = 2e-5
    epochs: int = 3
    batch_size: int = 32
    warm_up: float = 0.1
    """Share of the steps over which the rate rises."""
    weight_decay: float = 0.01


class _Checkpoint:
    """A checkpoint's tokenizer, and loading and batched prediction of its model."""

    def __init__(self, name: str, *, longest: int, batch_size: int, device: str, counting: Counting) -> None:
        expect_path_or_name(name)
        from transformers import AutoTokenizer

        self._name, self._batch_size, self._counting = name, batch_size, counting
        self._device = torch.device(device)
        with loading(name):
            self._tokeniser: Any = AutoTokenizer.from_pretrained(name)
        if self._tokeniser.pad_token is None:
            self._tokeniser.pad_token = self._tokeniser.eos_token
        if self._tokeniser.pad_token is None:
            raise ModelError(f"hf:{name}: its tokeniser has no padding token, nor one that ends a text")
        self._longest = min(longest, self._tokeniser.model_max_length)

    def _model(self, **options: Any) -> nn.Module:
        """Load a copy of the model with a classification head. Raises ModelError."""
        from transformers import AutoModelForSequenceClassification

        with loading(self._name):
            model: nn.Module = AutoModelForSequenceClassification.from_pretrained(self._name, **options)
        config: Any = model.config
        if getattr(config, "pad_token_id", None) is None:  # left-to-right models need it
            config.pad_token_id = int(self._tokeniser.pad_token_id)
        return model.to(self._device)

    def _encodings(self, task: Task, examples: Sequence[Example]) -> list[Encoding]:
        """Tokenize the examples, pairs as two segments. Raises ModelError for more than two texts."""
        if len(task.columns) > 2:
            raise ModelError(f"{task.name}: has {len(task.columns)} texts; a checkpoint takes one or two")
        if not task.labels and task.score_range is None:
            raise ModelError(f"{task.name}: has neither labels nor a range of scores (score_range)")
        if not examples:
            return []
        sides = [[example.inputs[column] for example in examples] for column in task.columns]
        fields = self._tokeniser(*sides, truncation=True, max_length=self._longest)
        return [{name: fields[name][at] for name in fields} for at in range(len(examples))]

    def _batch(self, encodings: Sequence[Encoding]) -> dict[str, Tensor]:
        """Pad encodings to tensors of shape (batch, longest encoding)."""
        padded = self._tokeniser.pad(list(encodings), return_tensors="pt")
        return {name: values.to(self._device) for name, values in padded.items()}

    def _logits(self, model: nn.Module, task: Task, examples: Sequence[Example]) -> Tensor:
        """Return the model's outputs (examples, labels) in order; similar lengths are batched together."""
        encodings = self._encodings(task, examples)
        advance = self._counting("predicted", "examples")
        order = sorted(range(len(encodings)), key=lambda at: len(encodings[at]["input_ids"]))
        outputs: list[Tensor] = []
        model.eval()
        with torch.inference_mode():
            for start in range(0, len(order), self._batch_size):
                batch = [encodings[at] for at in order[start : start + self._batch_size]]
                outputs.append(model(**self._batch(batch)).logits.float().cpu())
                advance(min(start + self._batch_size, len(order)), len(order))
        return torch.cat(outputs)[torch.tensor(order).argsort()]


class FineTunedCheckpoint(_Checkpoint):
    """A checkpoint used as it is; its labels are mapped to the task's by name."""

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
        """Raises ModelError with the reason for each task that the checkpoint cannot answer."""
        self._meanings = _meanings(name, tasks, labels or {})
        super().__init__(name, longest=longest, batch_size=batch_size, device=device, counting=counting)
        self._only = self._model()

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """Return the task's label with the highest summed probability, or the score, for each example."""
        if not examples:
            return []
        outputs = self._logits(self._only, task, examples)
        if task.labels:
            word_codes = torch.tensor([task.words.index(word) for word in self._meanings[task.name]])
            sums = torch.zeros(len(outputs), len(task.words))
            outputs = sums.index_add_(1, word_codes, outputs.softmax(dim=1))
        return targets.answers(task, outputs.double().numpy())


class FineTunedHere(_Checkpoint):
    """A checkpoint of which one copy is fine-tuned on each task."""

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
        """Raises ModelError for a checkpoint that cannot be loaded."""
        self._settings = settings = settings or FineTuning()
        batch_size = 2 * settings.batch_size
        super().__init__(name, longest=longest, batch_size=batch_size, device=device, counting=counting)
        self._seed = seed
        self._models: dict[str, nn.Module] = {}

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        """Fine-tune a new copy on train; dev is not used."""
        if task.labels:
            expected = torch.tensor([task.words.index(word) for word in targets.labels(task, train)])
        else:
            expected = torch.tensor(targets.numbers(task, train), dtype=torch.float32)
        encodings = self._encodings(task, train)
        devices = [self._device] if self._device.type == "cuda" else []
        with torch.random.fork_rng(devices):
            torch.manual_seed(self._seed)
            model = self._model(num_labels=len(task.words) or 1, ignore_mismatched_sizes=True)
            self._models[task.name] = model
            self._train(model, encodings, expected)

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """The most probable word, or the score cut to the task's range."""
        if not examples:
            return []
        return targets.answers(task, self._logits(self._models[task.name], task, examples).double().numpy())

    def forget(self, task: Task) -> None:
        """Drop the task's model once all its files are answered."""
        self._models.pop(task.name, None)

    def _train(self, model: nn.Module, encodings: Sequence[Encoding], expected: Tensor) -> None:
        settings = self._settings
        steps = settings.epochs * -(-len(encodings) // settings.batch_size)
        trained = [tensor for tensor in model.parameters() if tensor.requires_grad]
        groups = [  # no weight decay for biases and normalization scales
            {
                "params": [tensor for tensor in trained if tensor.ndim > 1],
                "weight_decay": settings.weight_decay,
            },
            {"params": [tensor for tensor in trained if tensor.ndim <= 1], "weight_decay": 0.0},
        ]
        optimiser = torch.optim.AdamW(groups, lr=settings.learning_rate)
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimiser, lambda step: rate(step, steps, settings.warm_up)
        )
        advance = self._counting("trained", "steps")
        model.train()
        for step, rows in enumerate(self._batches(len(encodings)), 1):
            batch = self._batch([encodings[row] for row in rows])
            outputs, labels = model(**batch).logits.float(), expected[rows].to(self._device)
            if labels.is_floating_point():
                loss = nn.functional.mse_loss(outputs[:, 0], labels)
            else:
                loss = nn.functional.cross_entropy(outputs, labels)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(model.parameters(), LARGEST_GRADIENT)
            optimiser.step()
            schedule.step()
            advance(step, steps)

    def _batches(self, count: int) -> Iterator[list[int]]:
        """Yield the row numbers of each batch, in a new order every epoch."""
        for _ in range(self._settings.epochs):
            order = torch.randperm(count).tolist()
            for start in range(0, count, self._settings.batch_size):
                yield order[start : start + self._settings.batch_size]


def rate(step: int, steps: int, warm_up: float) -> float:
    """Return the factor of the learning rate at a step: a linear rise to 1, then a linear fall to 0."""
    rising = max(1, round(warm_up * steps))
    return min((step + 1) / rising, (steps - step) / max(1, steps - rising), 1.0)


def _meanings(name: str, tasks: Sequence[Task], given: Mapping[str, str]) -> dict[str, list[str]]:
    """Map each task to its word for each model label. Raises ModelError with all unanswerable tasks."""
    expect_path_or_name(name)
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


@contextmanager
def loading(name: str) -> Iterator[None]:
    """Turn errors of loading a checkpoint into ModelError; mute the library meanwhile."""
    logging: Any = import_module("transformers.utils.logging")  # the library does not type it
    before, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise ModelError(f"hf:{name}: cannot be loaded: {_reason(error)}") from error
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()


def expect_path_or_name(name: str) -> None:
    """Raise ModelError for a name that looks like a path but is not a folder; the hub is not asked."""
    looks_like_path = name.startswith((".", "/", "~")) or name.count("/") > 1
    if looks_like_path and not Path(name).is_dir():
        raise ModelError(f"{name}: there is no such folder")


def _reason(error: Exception) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)


class SentenceTransformerEncoder:
    """A sentence-transformers model with its own tokenizer, length, pooling and normalization."""

    def __init__(self, name: str, *, device: str = "cpu") -> None:
        """Raises ModelError for a model that cannot be loaded."""
        from sentence_transformers import SentenceTransformer

        expect_path_or_name(name)
        try:
            self._model: Any = SentenceTransformer(name, device=device)
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise ModelError(f"st:{name}: cannot be loaded: {_reason(error)}") from error
        self.name = f"st:{name}"
        self.dim = self._model.encode([""], show_progress_bar=False).shape[1]

    def encode(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of shape (sentences, dim), rows in order."""
        if not sentences:
            return np.zeros((0, self.dim), dtype=np.float32)
        vectors = self._model.encode(
            list(sentences), batch_size=SENTENCES, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)
