"""ELMo from its formulas, one sentence, one word and one step at a time, in float64."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Weights = Mapping[str, Any]
State = dict[tuple[int, int], tuple[Any, Any]]


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def word_vector(weights: Weights, filters: int, highways: int, word: str | int, *, activation: str) -> Any:
    inner = [word] if isinstance(word, int) else list(word.encode())[:48]
    ids = ([258, *inner, 259] + [260] * 50)[:50]
    letters = weights["char_embed"][ids]
    parts = []
    for group in range(filters):
        kernel = weights[f"CNN/W_cnn_{group}"][0]  # (width, characters, number)
        width = len(kernel)
        windows = [
            np.einsum("wc,wcn->n", letters[at : at + width], kernel) + weights[f"CNN/b_cnn_{group}"]
            for at in range(50 - width + 1)
        ]
        best = np.max(windows, axis=0)
        parts.append(np.tanh(best) if activation == "tanh" else np.maximum(best, 0))
    x = np.concatenate(parts)
    for k in range(highways):
        name = f"CNN_high_{k}"
        gate = sigmoid(x @ weights[f"{name}/W_carry"] + weights[f"{name}/b_carry"])
        new = np.maximum(x @ weights[f"{name}/W_transform"] + weights[f"{name}/b_transform"], 0)
        x = gate * new + (1 - gate) * x
    if "CNN_proj/W_proj" in weights:
        x = x @ weights["CNN_proj/W_proj"] + weights["CNN_proj/b_proj"]
    return x


def elmo(
    weights: Weights, options: dict[str, Any], sentence: Sequence[str], state: State | None = None
) -> Any:
    """Layers (1 + cells, length, 2 x projection); `state` is read and changed where given."""
    weights = {name: np.asarray(values, dtype=np.float64) for name, values in weights.items()}
    cnn, lstm = options["char_cnn"], options["lstm"]
    shape = (len(cnn["filters"]), cnn.get("n_highway", 0))
    words = [
        word_vector(weights, *shape, word, activation=cnn["activation"]) for word in (256, *sentence, 257)
    ]
    dim, size = lstm["dim"], lstm["projection_dim"]
    state = {} if state is None else state
    sides = []
    for direction in range(2):
        x = words[::-1] if direction else words
        layers = [x]
        for layer in range(lstm["n_layers"]):
            cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            h, c = state.get((direction, layer), (np.zeros(size), np.zeros(dim)))
            out = []
            for each in x:
                i, j, f, o = np.split(
                    np.concatenate([each, h]) @ weights[f"{cell}/W_0"] + weights[f"{cell}/B"], 4
                )
                c = np.clip(
                    sigmoid(f + 1) * c + sigmoid(i) * np.tanh(j), -lstm["cell_clip"], lstm["cell_clip"]
                )
                h = (sigmoid(o) * np.tanh(c)) @ weights[f"{cell}/W_P_0"]
                h = np.clip(h, -lstm["proj_clip"], lstm["proj_clip"])
                out.append(h + each if layer and lstm["use_skip_connections"] else h)
            state[direction, layer] = (h, c)
            layers.append(out)
            x = out
        sides.append(np.array(layers)[:, ::-1] if direction else np.array(layers))
    return np.concatenate(sides, axis=-1)[:, 1:-1]
