"""Skip-Thought as a sentence encoder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from torch import Tensor

from gluebench.systems.encoders.batches import Floats, Tokenise, in_batches
from gluebench.systems.weights.skip_thought import Kind, SkipThought


class SkipThoughtEncoder:
    """A folder of the published files and a tokeniser; by default both models and `<eos>`."""

    def __init__(
        self,
        folder: Path,
        tokenise: Tokenise,
        *,
        kind: Kind = "combine",
        eos: bool = True,
        batch: int = 64,
        device: str = "cpu",
        name: str = "skip-thought",
    ) -> None:
        self.name = name
        self.model = SkipThought.from_folder(folder, kind).to(device)
        self.dim = self.model.dim
        self._tokenise, self._eos, self._batch = tokenise, eos, batch

    def encode(self, sentences: Sequence[str]) -> Floats:
        """Vectors (sentences, dim) in order."""
        words = [self._tokenise(sentence) for sentence in sentences]
        return in_batches(words, self._batched, dim=self.dim, size=self._batch)

    def _batched(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        encoded: Tensor = self.model(sentences, eos=self._eos)
        return encoded
