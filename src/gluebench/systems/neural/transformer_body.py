"""A transformer of Hugging Face's under the same heads as the BiLSTM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import torch
from torch import Tensor, nn

from gluebench.systems.neural.model import Body

LONGEST = 128
"""Tokens that are kept of an example, both texts together, as is usual for GLUE."""


class TransformerBody(Body):
    """The first token's last state, with dropout; a pair is given as two segments.

    `model` gives `last_hidden_state`, as those of AutoModel do, and has a `config.hidden_size`. It is
    trained with the heads.
    """

    def __init__(
        self, model: nn.Module, tokeniser: Any, *, longest: int = LONGEST, dropout: float = 0.1
    ) -> None:
        super().__init__()
        if tokeniser.pad_token is None:
            raise ValueError("the tokeniser has no padding token; set its pad_token first")
        self.model = model
        self.tokeniser = tokeniser
        self.longest = longest
        self.dropout = nn.Dropout(dropout)
        width = int(getattr(model, "config").hidden_size)  # noqa: B009 (an nn.Module's attribute is not typed)
        self.dims = {1: width, 2: width}

    @classmethod
    def from_name(cls, name: str | PathLike[str], *, longest: int = LONGEST) -> TransformerBody:
        """The model and tokeniser of a folder, or of that name at the hub or in its cache."""
        from transformers import AutoModel, AutoTokenizer  # an extra, and slow to import

        model, tokeniser = AutoModel.from_pretrained(name), AutoTokenizer.from_pretrained(name)
        return cls(model, tokeniser, longest=longest)

    def prepare(self, inputs: Sequence[tuple[str, ...]]) -> list[Any]:
        """For each example the tokeniser's fields: ids, segments if it has them, and the mask."""
        if not inputs:
            return []
        sides = [list(side) for side in zip(*inputs, strict=True)]
        fields = self.tokeniser(*sides, truncation=True, max_length=self.longest)
        return [{name: fields[name][at] for name in fields} for at in range(len(inputs))]

    def size(self, item: Any) -> int:
        """Tokens of both texts together, the special ones with them."""
        return len(item["input_ids"])

    def collate(self, items: Sequence[Any]) -> dict[str, Tensor]:
        """The fields side by side, filled up as the tokeniser fills them."""
        return dict(self.tokeniser.pad(list(items), return_tensors="pt"))

    def forward(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Features (batch, hidden size)."""
        states: Tensor = self.model(**batch).last_hidden_state
        return torch.as_tensor(self.dropout(states[:, 0]))
