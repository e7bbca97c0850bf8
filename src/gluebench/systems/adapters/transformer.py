"""Hugging Face checkpoints: loading, encoding, logits in order, and sentence-transformers as encoders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gluebench.benchmark import Task
from gluebench.data import Example
from gluebench.systems.adapters import ModelError
from gluebench.systems.protocols import Advance

Encoding = Mapping[str, list[int]]
"""The tokeniser's fields of one example."""


class Tokens:
    """A tokeniser as it is used here: one or two texts, cut to a length, batches filled up."""

    def __init__(self, name: str, *, longest: int) -> None:
        from transformers import AutoTokenizer

        with loading(name):
            self._tokeniser: Any = AutoTokenizer.from_pretrained(name)
        if self._tokeniser.pad_token is None:
            self._tokeniser.pad_token = self._tokeniser.eos_token
        if self._tokeniser.pad_token is None:
            raise ModelError(f"hf:{name}: its tokeniser has no padding token, nor one that ends a text")
        self.pad_id = int(self._tokeniser.pad_token_id)
        self._longest = min(longest, self._tokeniser.model_max_length)

    def encode(self, task: Task, examples: Sequence[Example]) -> list[Encoding]:
        """The fields of each example; a pair is given as two segments. Raises ModelError for more texts."""
        if len(task.columns) > 2:
            raise ModelError(f"{task.name}: has {len(task.columns)} texts; a checkpoint takes one or two")
        if not examples:
            return []
        sides = [[example.inputs[column] for example in examples] for column in task.columns]
        fields = self._tokeniser(*sides, truncation=True, max_length=self._longest)
        return [{name: fields[name][at] for name in fields} for at in range(len(examples))]

    def batch(self, encodings: Sequence[Encoding], device: torch.device) -> dict[str, Tensor]:
        """The fields side by side, (batch, longest of them)."""
        padded = self._tokeniser.pad(list(encodings), return_tensors="pt")
        return {name: values.to(device) for name, values in padded.items()}


def load_model(name: str, **options: Any) -> nn.Module:
    """A checkpoint with a head for whole texts. Raises ModelError."""
    from transformers import AutoModelForSequenceClassification

    with loading(name):
        model: nn.Module = AutoModelForSequenceClassification.from_pretrained(name, **options)
    return model


@contextmanager
def loading(name: str) -> Iterator[None]:
    """Raises ModelError with the reason why a checkpoint cannot be loaded; mutes the library meanwhile."""
    logging: Any = import_module("transformers.utils.logging")  # the library does not type it
    before, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise ModelError(f"hf:{name}: cannot be loaded: {reason}") from error
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()


def expect_path_or_name(name: str) -> None:
    """Raises ModelError for what looks like a path but is no folder; no hub is queried for it."""
    looks = name.startswith((".", "/", "~")) or name.count("/") > 1
    if looks and not Path(name).is_dir():
        raise ModelError(f"{name}: there is no such folder")


def logits(
    model: nn.Module,
    tokens: Tokens,
    encodings: Sequence[Encoding],
    *,
    batch_size: int,
    device: torch.device,
    advance: Advance,
) -> Tensor:
    """The model's outputs, (examples, labels), in order; like lengths are batched together."""
    order = sorted(range(len(encodings)), key=lambda at: len(encodings[at]["input_ids"]))
    outputs: list[Tensor] = []
    model.eval()
    with torch.inference_mode():
        for start in range(0, len(order), batch_size):
            batch = [encodings[at] for at in order[start : start + batch_size]]
            outputs.append(model(**tokens.batch(batch, device)).logits.float().cpu())
            advance(min(start + batch_size, len(order)), len(order))
    places = torch.empty(len(order), dtype=torch.long)
    places[torch.tensor(order, dtype=torch.long)] = torch.arange(len(order))
    return torch.cat(outputs)[places]


def as_scores(task: Task, outputs: Tensor) -> list[float]:
    """The numbers of a regression head, cut to the task's range."""
    if task.score_range is None:
        raise ModelError(f"{task.name}: has neither labels nor a range of scores (score_range)")
    low, high = task.score_range
    values: list[float] = outputs[:, 0].double().clamp(low, high).tolist()
    return values


BATCH = 64


class SentenceTransformerEncoder:
    """Encodes as the model's authors meant it: their tokeniser, length, pooling and normalisation."""

    def __init__(self, name: str, *, device: str = "cpu") -> None:
        """Raises ModelError for a model that cannot be had."""
        from sentence_transformers import SentenceTransformer

        expect_path_or_name(name)
        try:
            self._model: Any = SentenceTransformer(name, device=device)
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
            raise ModelError(f"st:{name}: cannot be loaded: {reason}") from error
        self.name = f"st:{name}"
        self.dim = self._model.encode([""], show_progress_bar=False).shape[1]

    def encode(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of shape (sentences, dim), rows in order."""
        if not sentences:
            return np.zeros((0, self.dim), dtype=np.float32)
        vectors = self._model.encode(
            list(sentences), batch_size=BATCH, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)
