"""Small files of random weights in the layouts that the original programs wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

Arrays = dict[str, Any]


def random(shape: tuple[int, ...], seed: int, scale: float = 0.4) -> Any:
    return np.random.default_rng(seed).normal(0, scale, shape).astype(np.float32)


def elmo_options(**changes: Any) -> dict[str, Any]:
    cnn = {
        "embedding": {"dim": 3},
        "filters": [[1, 4], [2, 3], [4, 5]],
        "n_highway": 2,
        "n_characters": 262,
        "max_characters_per_token": 50,
        "activation": "relu",
    }
    lstm = {
        "dim": 7,
        "projection_dim": 5,
        "n_layers": 2,
        "cell_clip": 0.9,
        "proj_clip": 0.6,
        "use_skip_connections": True,
    }
    return {
        "lstm": lstm | {key: value for key, value in changes.items() if key in lstm},
        "char_cnn": cnn | {key: value for key, value in changes.items() if key in cnn},
    }


def elmo_arrays(options: dict[str, Any]) -> Arrays:
    """Every dataset, large enough in values that both clips are met."""
    cnn, lstm = options["char_cnn"], options["lstm"]
    wide = sum(number for _, number in cnn["filters"])
    size, dim = lstm["projection_dim"], lstm["dim"]
    shapes: dict[str, tuple[int, ...]] = {"char_embed": (261, cnn["embedding"]["dim"])}
    for at, (width, number) in enumerate(cnn["filters"]):
        shapes |= {
            f"CNN/W_cnn_{at}": (1, width, cnn["embedding"]["dim"], number),
            f"CNN/b_cnn_{at}": (number,),
        }
    for at in range(cnn.get("n_highway", 0)):
        for part in ("carry", "transform"):
            shapes |= {f"CNN_high_{at}/W_{part}": (wide, wide), f"CNN_high_{at}/b_{part}": (wide,)}
    if wide != size:
        shapes |= {"CNN_proj/W_proj": (wide, size), "CNN_proj/b_proj": (size,)}
    for direction in range(2):
        for layer in range(lstm["n_layers"]):
            cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            shapes |= {
                f"{cell}/W_0": (2 * size, 4 * dim),
                f"{cell}/B": (4 * dim,),
                f"{cell}/W_P_0": (dim, size),
            }
    return {name: random(shape, seed, 0.6) for seed, (name, shape) in enumerate(shapes.items())}


def write_elmo(folder: Path, options: dict[str, Any], arrays: Arrays) -> tuple[Path, Path]:
    import h5py

    (folder / "options.json").write_text(json.dumps(options))
    with h5py.File(folder / "weights.hdf5", "w") as file:
        for name, values in arrays.items():
            file[name] = values
    return folder / "options.json", folder / "weights.hdf5"


def recurrent(gates: int, inputs: int, hidden: int, *, layers: int = 1, prefix: str = "") -> Arrays:
    """A two-way LSTM (4 gates) or GRU (3) under PyTorch's names."""
    arrays: Arrays = {}
    for layer in range(layers):
        width = 2 * hidden if layer else inputs
        for side, ending in enumerate(("", "_reverse")):
            seed = 10 * layer + 5 * side
            arrays[f"{prefix}weight_ih_l{layer}{ending}"] = random((gates * hidden, width), seed)
            arrays[f"{prefix}weight_hh_l{layer}{ending}"] = random((gates * hidden, hidden), seed + 1)
            arrays[f"{prefix}bias_ih_l{layer}{ending}"] = random((gates * hidden,), seed + 2)
            arrays[f"{prefix}bias_hh_l{layer}{ending}"] = random((gates * hidden,), seed + 3)
    return arrays


def write_state(path: Path, arrays: Arrays, *, legacy: bool = True) -> Path:
    """A state dict; by default in the container that PyTorch wrote until 1.5."""
    state = {name: torch.from_numpy(values.copy()) for name, values in arrays.items()}
    torch.save(state, path, _use_new_zipfile_serialization=not legacy)
    return path
