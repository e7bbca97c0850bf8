"""A model: one body for all tasks, from texts to features, and a head for each task.

Initial weights and dropout use PyTorch's own generator. The caller seeds it once, with `torch.manual_seed`,
before making the model; this module neither seeds it nor keeps another.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

import torch
from torch import Tensor, nn
from torch.nn import functional

from gluebench.benchmark import Task, UnknownNameError

Batch = TypeVar("Batch")


@runtime_checkable
class StatefulModule(Protocol):
    """A module that keeps something of a batch for the next one, as ELMo's original programs do."""

    def carried(self) -> Any:
        """What it keeps, as tensors on the CPU in lists and tuples."""

    def carry_on(self, carried: Any) -> None:
        """Go on from what `carried` returned."""


HIDDEN = 512
"""Width of a classifier's hidden layer in the paper (section 5)."""


class Body(nn.Module, ABC):
    """Base class of encoders of one or two texts, shared by all tasks of a model."""

    dims: Mapping[int, int]
    """Number of input texts (1, 2) to the width of their features."""
    longest: int | None = None
    """Tokens that `prepare` keeps of an example; None if it does not count those that it cuts."""
    length_advice = "--set longest=N keeps more"
    """What to do about examples that are cut."""
    unchanged: frozenset[str] = frozenset()
    """Names of weights that a pre-trained model has and training leaves as they are: they are not saved."""

    @abstractmethod
    def prepare(self, inputs: Sequence[tuple[str, ...]]) -> list[Any]:
        """Prepare one item for each example's texts, once per split; items can be pickled."""

    def count_cut(self, inputs: Sequence[tuple[str, ...]], items: Sequence[Any]) -> int:
        """Count the examples that lost tokens when `prepare` made these items."""
        raise NotImplementedError(
            f"{type(self).__name__} has a longest length and does not count what it cuts"
        )

    @abstractmethod
    def collate(self, items: Sequence[Any]) -> Any:
        """Collate items with equally many texts: tensors on the CPU in tuples or dicts."""

    @abstractmethod
    def lengths(self, item: Any) -> tuple[int, ...]:
        """Count the tokens of each separately padded sequence, for batches of similar length."""

    @abstractmethod
    def forward(self, batch: Any) -> Tensor:
        """Features of a collated batch: (batch, dims[texts])."""


def to_device(batch: Batch, device: torch.device | str) -> Batch:
    """Move a collated batch's tensors to a device; other values are unchanged."""
    return _map_tensors(batch, lambda tensor: tensor.to(device, non_blocking=True))


def pin_batch(batch: Batch) -> Batch:
    """Copy a batch's tensors to memory from which a GPU can take them while others compute."""
    return _map_tensors(batch, Tensor.pin_memory)


def _map_tensors(batch: Batch, function: Callable[[Tensor], Tensor]) -> Batch:
    result: Any = batch
    if isinstance(result, Tensor):
        result = function(result)
    elif isinstance(result, Mapping):
        result = {name: _map_tensors(value, function) for name, value in result.items()}
    elif isinstance(result, tuple):
        values = [_map_tensors(value, function) for value in result]
        is_named = hasattr(result, "_fields")
        result = type(result)(*values) if is_named else tuple(values)
    return result  # type: ignore[no-any-return]


class Head(nn.Module):
    """Linear, tanh, linear for a task of classes; one linear layer for a task of scores.

    A score is learned as its relative position in the task's range, 0 to 1 (the paper's score / 5 for STS-B).
    With a `hidden` width of None there are no layers: the body gives the outputs itself, and scores unscaled.
    """

    def __init__(self, task: Task, dim: int, *, hidden: int | None = HIDDEN) -> None:
        super().__init__()
        self.task = task
        if not task.labels:
            if task.score_range is None:
                raise ValueError(f"{task.name} has neither labels nor a range of scores")
            self.low, self.high = task.score_range
            self.offset = self.low
            self.scale = self.high - self.low
        self.layers: nn.Module
        if hidden is None:
            self.layers = nn.Identity()
            self.offset = 0.0
            self.scale = 1.0
        elif task.labels:
            self.layers = nn.Sequential(
                nn.Linear(dim, hidden), nn.Tanh(), nn.Linear(hidden, len(task.labels))
            )
        else:
            self.layers = nn.Linear(dim, 1)

    def forward(self, features: Tensor) -> Tensor:
        """Outputs (batch, classes), or (batch,) for a task of scores, from features (batch, dim)."""
        outputs: Tensor = self.layers(features)
        return outputs if self.task.labels else outputs.squeeze(1)

    def targets(self, labels: Sequence[str | float | None]) -> Tensor:
        """Convert labels for `loss`: codes of the label words, or the scores unchanged."""
        if self.task.labels:
            codes = {word: code for code, word in enumerate(self.task.words)}
            return torch.tensor([codes[_label(self.task, label, str)] for label in labels])
        return torch.tensor(
            [float(_label(self.task, label, (int, float))) for label in labels], dtype=torch.float32
        )

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Mean cross-entropy, or mean squared error of the scaled scores; computed in float32."""
        if self.task.labels:
            return functional.cross_entropy(outputs.float(), targets)
        return functional.mse_loss(outputs.float(), (targets - self.offset) / self.scale)

    def decode(self, outputs: Tensor) -> list[str | float]:
        """Return the label word of the largest output, or the score clipped to the task's range."""
        if self.task.labels:
            return [self.task.words[code] for code in outputs.argmax(dim=1).tolist()]
        scores = self.offset + outputs.double() * self.scale
        return [float(score) for score in scores.clamp(self.low, self.high).tolist()]


class MultiTaskModel(nn.Module):
    """One body for all tasks, one head for each; with a single task, that task's own model."""

    def __init__(self, body: Body, tasks: Sequence[Task], *, hidden: int | None = HIDDEN) -> None:
        """`hidden` is as a head takes it."""
        super().__init__()
        self.body = body
        self.heads = nn.ModuleDict()
        self._keys = {task.name: _key(task.name) for task in tasks}
        for task in tasks:
            if len(task.columns) not in body.dims:
                takes = list(body.dims)
                raise ValueError(f"{task.name} has {len(task.columns)} texts; the body takes {takes}")
            self.heads[_key(task.name)] = Head(task, body.dims[len(task.columns)], hidden=hidden)

    def head(self, task_name: str) -> Head:
        """The head of a task. Raises UnknownNameError."""
        if task_name not in self._keys:
            raise UnknownNameError(task_name, list(self._keys), what="head")
        module = self.heads[self._keys[task_name]]
        assert isinstance(module, Head)
        return module

    def forward(self, task_name: str, batch: Any) -> Tensor:
        """Outputs for a collated batch of the task: (batch, classes), or (batch,) for scores."""
        outputs: Tensor = self.head(task_name)(self.body(batch))
        return outputs

    def state_to_save(self) -> dict[str, Tensor]:
        """Its weights by name, but for those of the body that are `unchanged`."""
        unchanged = self._base_weights()
        return {name: values for name, values in self.state_dict().items() if name not in unchanged}

    def load_saved(self, state: Mapping[str, Tensor]) -> None:
        """Load what `state_to_save` returned. Raises RuntimeError for weights of another model."""
        self.load_state_dict({**self._base_weights(), **state})

    def base_digest(self) -> str | None:
        """A digest of the weights that are not saved; None if all are."""
        unchanged = self._base_weights()
        if not unchanged:
            return None
        digest = hashlib.sha256()
        add_weights(digest, unchanged)
        return digest.hexdigest()[:32]

    def _base_weights(self) -> dict[str, Tensor]:
        state = self.state_dict()
        names = [f"body.{name}" for name in self.body.unchanged]
        return {name: state[name] for name in sorted(names)}

    def carriers(self) -> dict[str, StatefulModule]:
        """Its modules that keep something from batch to batch, by name."""
        return {name: module for name, module in self.named_modules() if isinstance(module, StatefulModule)}


def add_weights(digest: Any, weights: Mapping[str, Tensor]) -> None:
    """Update a digest of hashlib by names, kinds and numbers of weights."""
    for name, values in weights.items():
        digest.update(f"{name} {values.dtype} {tuple(values.shape)}".encode())
        digest.update(values.detach().cpu().flatten().view(torch.uint8).numpy())


def _label(task: Task, label: Any, kind: type | tuple[type, ...]) -> Any:
    if not isinstance(label, kind) or (task.labels and label not in task.words):
        expected = ", ".join(task.words) or "a number"
        raise ValueError(f"{task.name}: the label {label!r} cannot be learned; expected {expected}")
    return label


def _key(name: str) -> str:
    """Return a task's name as a module name: without full stops, and unlike any attribute."""
    return "task:" + name.replace("%", "%25").replace(".", "%2E")
