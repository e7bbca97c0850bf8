"""A pre-trained encoder of Hugging Face as the body of a model: trained whole, by LoRA, or frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from gluebench.systems.adapters.huggingface import Encoding, PairTokenizer, loading, quiet_transformers
from gluebench.systems.neural.model import Body
from gluebench.systems.training.checkpoint import save_weights
from gluebench.systems.training.settings import TransformerSpec


class SequenceBody(Body):
    """Base class of bodies that read one sequence; a pair is its two segments (Devlin et al. 2019)."""

    def __init__(self, tokenizer: PairTokenizer, *, width: int, longest: int) -> None:
        super().__init__()
        self.dims = {1: width, 2: width}
        self.tokenizer = tokenizer
        self._most = min(longest, tokenizer.longest)
        self.longest = self._most
        if longest >= tokenizer.longest:
            self.length_advice = "the model takes no more"

    def prepare(self, inputs: Sequence[tuple[str, ...]]) -> list[Encoding]:
        """Tokenize each example; cut the longer text of one that is too long."""
        return self.tokenizer.encode(inputs, self._most)

    def count_cut(self, inputs: Sequence[tuple[str, ...]], items: Sequence[Any]) -> int:
        """Count the examples that lost tokens."""
        return self.tokenizer.count_cut(inputs, items)

    def collate(self, items: Sequence[Any]) -> dict[str, Tensor]:
        """Pad the items: field to (batch, longest item)."""
        return self.tokenizer.pad(items)

    def lengths(self, item: Any) -> tuple[int, ...]:
        """The tokens of the one sequence."""
        return (len(item["input_ids"]),)


class ClassifierBody(SequenceBody):
    """A checkpoint with its own classification head, for one task: its features are the task's outputs."""

    length_advice = "--max-length keeps more"

    def __init__(self, classifier: nn.Module, tokenizer: PairTokenizer, *, longest: int) -> None:
        outputs = int(cast(Any, classifier).config.num_labels)
        super().__init__(tokenizer, width=outputs, longest=longest)
        self.classifier = classifier
        self.unchanged = _frozen_weights(self)

    def forward(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Logits (batch, labels); of a task of scores (batch, 1)."""
        logits: Tensor = self.classifier(**batch).logits
        return logits


class TransformerBody(SequenceBody):
    """One encoder for all tasks."""

    def __init__(self, encoder: nn.Module, tokenizer: PairTokenizer, spec: TransformerSpec) -> None:
        width = int(cast(Any, encoder).config.hidden_size)
        super().__init__(tokenizer, width=width, longest=spec.longest)
        self._pooling = spec.pooling
        self._frozen = spec.tuning == "frozen"
        self.encoder_name = spec.encoder_name
        self.dropout = nn.Dropout(spec.dropout)
        self.encoder = _make_trainable(encoder, spec)

    def train(self, mode: bool = True) -> TransformerBody:
        """Set the mode; a frozen encoder stays without dropout, so that its features are always the same."""
        super().train(mode)
        if self._frozen:
            self.encoder.eval()
        return self

    def forward(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Features (batch, width)."""
        states = self.encoder(**batch).last_hidden_state
        pooled: Tensor = self.dropout(_pool(states, batch["attention_mask"], self._pooling))
        return pooled


def pretrained_body(name: str, spec: TransformerSpec) -> TransformerBody:
    """Load a body from a folder or the hub, in float32; what training leaves of it is `unchanged`.

    Raises ModelError if it cannot be loaded.
    """
    from transformers import AutoModel

    tokenizer = PairTokenizer.load(name)
    with loading(name):
        encoder: nn.Module = AutoModel.from_pretrained(name, dtype=torch.float32)
    body = TransformerBody(encoder, tokenizer, spec)
    body.unchanged = _frozen_weights(body)
    return body


def _frozen_weights(body: nn.Module) -> frozenset[str]:
    return frozenset(name for name, weights in body.named_parameters() if not weights.requires_grad)


def save_adapter(body: TransformerBody, folder: Path) -> None:
    """Write the adapter of a LoRA body as `peft.PeftModel.from_pretrained` reads it.

    The encoder is named as the body's specification names it; a folder by its name alone.
    """
    from peft import get_peft_model_state_dict

    encoder: Any = body.encoder
    config = copy(encoder.peft_config["default"])
    config.task_type = "FEATURE_EXTRACTION"
    config.inference_mode = True
    config.base_model_name_or_path = body.encoder_name
    if hasattr(encoder.get_base_model(), "pooler"):  # an adapter of the layer that heads do not read
        config.exclude_modules = r"(.*\.)?pooler\..*"
    folder.mkdir(exist_ok=True)
    weights = get_peft_model_state_dict(encoder, save_embedding_layers=False)
    save_weights(folder / "adapter_model.safetensors", weights)
    with quiet_transformers():
        config.save_pretrained(folder)


def save_configuration(body: TransformerBody, folder: Path) -> None:
    """Write the encoder's configuration and tokenizer, from which `untrained_body` makes it."""
    with quiet_transformers():
        cast(Any, body.encoder).config.save_pretrained(folder)
        body.tokenizer.save(folder)


def untrained_body(folder: Path, spec: TransformerSpec) -> TransformerBody:
    """Make a body from its saved configuration, its weights to be loaded. Raises ModelError."""
    from transformers import AutoConfig, AutoModel

    tokenizer = PairTokenizer.load(str(folder))
    with loading(str(folder)):
        encoder: nn.Module = AutoModel.from_config(AutoConfig.from_pretrained(folder), dtype=torch.float32)
    return TransformerBody(encoder, tokenizer, spec)


def _make_trainable(encoder: nn.Module, spec: TransformerSpec) -> nn.Module:
    """The encoder with those weights trainable that the specification says."""
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None  # type: ignore[assignment]  # the heads read the states themselves
    if spec.gradient_checkpointing:
        with quiet_transformers():
            cast(Any, encoder).gradient_checkpointing_enable({"use_reentrant": False})
    if spec.tuning == "frozen":
        encoder.requires_grad_(False)
    if spec.tuning != "lora":
        return encoder
    return with_adapters(encoder, rank=spec.lora_rank, alpha=spec.lora_alpha, dropout=spec.lora_dropout)


def with_adapters(
    model: nn.Module, *, rank: int, alpha: int, dropout: float, kind: str | None = None
) -> nn.Module:
    """Add adapters of low rank (LoRA, Hu et al. 2022) to all linear layers; they alone are trained.

    With the `kind` "SEQ_CLS", the model's classification head is trained too.
    """
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(
        task_type=kind, r=rank, lora_alpha=alpha, lora_dropout=dropout, target_modules="all-linear"
    )
    with quiet_transformers():
        return cast(nn.Module, get_peft_model(cast(Any, model), config))


def _pool(states: Tensor, mask: Tensor, pooling: str) -> Tensor:
    """One vector of each sequence, (batch, width), from (batch, length, width) and its mask of tokens."""
    if pooling == "mean":
        weights = mask.unsqueeze(-1).to(states.dtype)
        return (states * weights).sum(1) / weights.sum(1)
    # Where a tokenizer pads on the left, the first token is not at position 0.
    positions = torch.arange(mask.shape[1], device=mask.device)
    if pooling == "first":
        chosen = mask.argmax(1)
    else:
        chosen = (mask * positions).argmax(1)
    return states[torch.arange(len(states), device=states.device), chosen]
