"""Hugging Face checkpoints: already fine-tuned, fine-tuned here on each task, or used as encoders.

Weights are loaded in float32 whatever the checkpoint has: an optimizer's small steps are lost in bfloat16.
"""

import hashlib
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gluebench.benchmark import Task
from gluebench.data import Example
from gluebench.systems import targets
from gluebench.systems.adapters import ModelError
from gluebench.systems.adapters.answers import map_labels
from gluebench.systems.neural.model import add_weights
from gluebench.systems.protocols import Advance, Counting, silent
from gluebench.systems.training.engine import Engine
from gluebench.systems.training.evaluation import compute_together, input_texts

HEADED = "ForSequenceClassification"
SENTENCES = 64
"""Batch size for models of sentence-transformers."""
Encoding = Mapping[str, list[int]]
"""The tokenizer's fields for one example."""


class PairTokenizer:
    """A checkpoint's tokenizer for single texts and pairs."""

    def __init__(self, tokenizer: Any, config: Any, *, name: str) -> None:
        """Take the tokenizer and the configuration of a model. Raises ModelError if it cannot pad."""
        self._tokenizer = tokenizer
        positions = getattr(config, "max_position_embeddings", None)
        self.longest = min(tokenizer.model_max_length, positions or sys.maxsize)
        """The most tokens of an example that the model takes."""
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token
        if tokenizer.pad_token is None:
            raise ModelError(f"{name}: its tokenizer has no padding token, nor one that ends a text")
        self.pad_token_id = int(tokenizer.pad_token_id)

    @classmethod
    def load(cls, name: str) -> Self:
        """Load the tokenizer of a checkpoint. Raises ModelError if that cannot be done."""
        expect_path_or_name(name)
        from transformers import AutoConfig, AutoTokenizer

        with loading(name):
            tokenizer = AutoTokenizer.from_pretrained(name)
            config = AutoConfig.from_pretrained(name)
        return cls(tokenizer, config, name=f"hf:{name}")

    def encode(self, inputs: Sequence[tuple[str, ...]], longest: int) -> list[Encoding]:
        """Tokenize examples of one or two texts each, pairs as two segments; cut at `longest` tokens."""
        if not inputs:
            return []
        fields = self._tokenizer(*self._sides(inputs), truncation=True, max_length=longest)
        encodings: list[Encoding] = []
        for at in range(len(inputs)):
            encodings.append({name: values[at] for name, values in fields.items()})
        return encodings

    def count_cut(self, inputs: Sequence[tuple[str, ...]], encodings: Sequence[Encoding]) -> int:
        """Count the examples of which `encode` cut something off."""
        longest = max((len(fields["input_ids"]) for fields in encodings), default=0)
        full = [at for at, fields in enumerate(encodings) if len(fields["input_ids"]) == longest]
        if not full:
            return 0
        uncut = self._tokenizer(*self._sides([inputs[at] for at in full]), verbose=False)
        return sum(len(tokens) > longest for tokens in uncut["input_ids"])

    def pad(self, encodings: Sequence[Encoding]) -> dict[str, Tensor]:
        """Pad encodings to tensors of shape (batch, longest encoding) on the CPU."""
        return dict(self._tokenizer.pad(list(encodings), return_tensors="pt"))

    def save(self, folder: Path) -> None:
        """Write the tokenizer's files."""
        self._tokenizer.save_pretrained(folder)

    def _sides(self, inputs: Sequence[tuple[str, ...]]) -> list[list[str]]:
        return [list(side) for side in zip(*inputs, strict=True)]


class Checkpoint:
    """A checkpoint's tokenizer, and loading and batched prediction of its models."""

    def __init__(
        self, name: str, *, engine: Engine, counting: Counting, tokenizer: PairTokenizer | None = None
    ) -> None:
        """Raises ModelError if no tokenizer is given and that of the name cannot be loaded."""
        self._name = name
        self._counting = counting
        self._engine = engine
        self._tokenizer = tokenizer or PairTokenizer.load(name)

    def _model(self, name: str, **options: Any) -> nn.Module:
        """Load a model with a classification head, in float32. Raises ModelError."""
        from transformers import AutoModelForSequenceClassification

        with loading(name):
            model: nn.Module = AutoModelForSequenceClassification.from_pretrained(
                name, dtype=torch.float32, **options
            )
        config: Any = model.config
        if getattr(config, "pad_token_id", None) is None:  # left-to-right models need it
            config.pad_token_id = self._tokenizer.pad_token_id
        return model.to(self._engine.device)

    def _encodings(self, task: Task, examples: Sequence[Example], longest: int) -> list[Encoding]:
        """Tokenize the examples, pairs as two segments. Raises ModelError for more than two texts."""
        expect_answerable(task)
        longest = min(longest, self._tokenizer.longest)
        return self._tokenizer.encode(input_texts(examples), longest)

    def _batch(self, encodings: Sequence[Encoding]) -> dict[str, Tensor]:
        """Pad encodings to tensors of shape (batch, longest encoding), on the engine's device."""
        padded = self._tokenizer.pad(encodings)
        return {name: values.to(self._engine.device) for name, values in padded.items()}

    def _logits(
        self, model: nn.Module, encodings: Sequence[Encoding], batch_size: int, advance: Advance
    ) -> Tensor:
        """Return the model's outputs (examples, labels) in order."""

        def compute(batch: Sequence[Encoding]) -> Tensor:
            with self._engine.autocast():
                logits: Tensor = model(**self._batch(batch)).logits
            return logits

        model.eval()
        lengths = [len(encoding["input_ids"]) for encoding in encodings]
        return compute_together(
            encodings, lengths, compute, batch_size=batch_size, engine=self._engine, advance=advance
        )


def expect_answerable(task: Task) -> None:
    """Raise ModelError for a task that no head of a checkpoint can answer."""
    if len(task.columns) > 2:
        raise ModelError(f"{task.name}: has {len(task.columns)} texts; a checkpoint takes one or two")
    if not task.labels and task.score_range is None:
        raise ModelError(f"{task.name}: has neither labels nor a range of scores (score_range)")


class HeadedModel(Checkpoint):
    """A model with a classification head, whose labels mean words of the tasks."""

    _meanings: Mapping[str, Sequence[str]]
    """Task to its word for each label of the model; none for scores."""
    _longest: int
    _batch_size: int
    _only: nn.Module

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        """Return the task's label with the highest summed probability, or the score, for each example."""
        if not examples:
            return []
        encodings = self._encodings(task, examples, self._longest)
        advance = self._counting("predicted", "examples")
        outputs = self._logits(self._only, encodings, self._batch_size, advance)
        if task.labels:
            word_codes = torch.tensor([task.words.index(word) for word in self._meanings[task.name]])
            sums = torch.zeros(len(outputs), len(task.words))
            outputs = sums.index_add_(1, word_codes, outputs.softmax(dim=1))
        return targets.answers(task, outputs.double().numpy())


class ModelInMemory(HeadedModel):
    """A model that was trained in this process, as it is, with its tokenizer."""

    def __init__(
        self,
        model: nn.Module,
        tokenizer: Any,
        tasks: Sequence[Task],
        *,
        labels: Mapping[str, str] | None = None,
        longest: int = 128,
        batch_size: int = 64,
    ) -> None:
        """Raises ModelError with the reason for each task that the model cannot answer."""
        config: Any = model.config
        name = type(model).__name__
        self._meanings = _meanings(name, config, tasks, labels or {})
        device = next(model.parameters()).device
        pieces = PairTokenizer(tokenizer, config, name=name)
        super().__init__(name, engine=Engine(device), counting=silent, tokenizer=pieces)
        self._longest = longest
        self._batch_size = batch_size
        self._only = model


class FineTunedCheckpoint(HeadedModel):
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
        precision: str = "fp32",
        counting: Counting = silent,
    ) -> None:
        """Raises ModelError with the reason for each task that the checkpoint cannot answer."""
        self._meanings = _meanings(f"hf:{name}", _config_with_head(name), tasks, labels or {})
        super().__init__(name, engine=Engine(device, precision=precision), counting=counting)
        self._longest = longest
        self._batch_size = batch_size
        self._only = self._model(name)


def _config_with_head(name: str) -> Any:
    """The configuration of a checkpoint. Raises ModelError if it has no head for whole texts."""
    expect_path_or_name(name)
    from transformers import AutoConfig

    with loading(name):
        config: Any = AutoConfig.from_pretrained(name)
    if not any(HEADED in architecture for architecture in config.architectures or ()):
        raise ModelError(
            f"hf:{name}: has no head that answers whole texts ({', '.join(config.architectures or ['?'])}); "
            "train one on each task with --fine-tune"
        )
    return config


def _meanings(
    model: str, config: Any, tasks: Sequence[Task], given: Mapping[str, str]
) -> dict[str, list[str]]:
    """Map each task to its word for each model label. Raises ModelError with all unanswerable tasks."""
    names = [str(config.id2label[code]) for code in sorted(config.id2label)]
    meanings = {}
    problems = []
    for task in tasks:
        try:
            meanings[task.name] = _meaning(task, names, given, model=model)
        except ModelError as error:
            problems.append(str(error))
    if problems:
        raise ModelError("\n".join(problems))
    return meanings


def _meaning(task: Task, names: Sequence[str], given: Mapping[str, str], *, model: str) -> list[str]:
    if task.labels and len(names) > 1:
        return list(map_labels(task, names, given, model=model).values())
    if not task.labels and len(names) == 1:
        return []
    gives = f"one of {', '.join(names)}" if len(names) > 1 else "a number"
    expected = f"one of {', '.join(task.words)}" if task.labels else "a number"
    raise ModelError(
        f"{task.name}: {model} answers {gives}; expected {expected}. "
        "Leave the task out (--tasks), or fine-tune the model on it (--fine-tune)"
    )


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Mute the messages, warnings of future versions and progress bars of transformers."""
    logging: Any = import_module("transformers.utils.logging")  # the library does not type it
    before = logging.get_verbosity()
    bars = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()


@contextmanager
def loading(name: str, kind: str = "hf") -> Iterator[None]:
    """Turn errors of loading a checkpoint into ModelError; mute the library meanwhile."""
    try:
        with quiet_transformers():
            yield
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise ModelError(f"{kind}:{name}: cannot be loaded: {reason}") from error


def expect_path_or_name(name: str) -> None:
    """Raise ModelError for a name that looks like a path but is not a folder; the hub is not asked."""
    looks_like_path = name.startswith((".", "/", "~")) or name.count("/") > 1
    if looks_like_path and not Path(name).is_dir():
        raise ModelError(f"{name}: there is no such folder")


class SentenceTransformerEncoder:
    """A sentence-transformers model with its own tokenizer, length, pooling and normalization."""

    def __init__(self, name: str, *, device: str = "cpu") -> None:
        """Raises ModelError for a model that cannot be loaded."""
        from sentence_transformers import SentenceTransformer

        expect_path_or_name(name)
        with loading(name, "st"):
            self._model: Any = SentenceTransformer(name, device=device)
        self.name = f"st:{name}"
        self.content = _content(self._model)
        """What its vectors depend on, wherever its files are: weights, tokenizer, length, pooling."""
        self.dim = self._model.encode([""], show_progress_bar=False).shape[1]

    def encode(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of shape (sentences, dim), rows in order."""
        if not sentences:
            return np.zeros((0, self.dim), dtype=np.float32)
        vectors = self._model.encode(
            list(sentences), batch_size=SENTENCES, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)


def _content(model: Any) -> str:
    """A digest of a sentence-transformers model: its modules and their settings, weights and tokenizer."""
    digest = hashlib.sha256(repr(model).encode())
    add_weights(digest, model.state_dict())
    tokenizer = getattr(model.tokenizer, "backend_tokenizer", None)
    digest.update((tokenizer.to_str() if tokenizer else repr(model.tokenizer)).encode())
    return f"sentence-transformers {digest.hexdigest()[:32]}"
