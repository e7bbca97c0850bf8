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


WORDS = ["<s>", "</s>", "<p>", "</p>", "a", "warm", "evening", "came", "don", "'t", "Evening", "."]


def write_vectors(path: Path, words: list[str], width: int, seed: int = 3) -> dict[str, Any]:
    """A text file of word vectors, and what stands in it."""
    rows = random((len(words), width), seed)
    lines = [
        f"{word} {' '.join(f'{value:.6f}' for value in row)}\n" for word, row in zip(words, rows, strict=True)
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return {line.split(" ")[0]: np.array(line.split()[1:], dtype=np.float32) for line in lines}


def skip_thought_arrays(side: str, inputs: int, hidden: int, seed: int) -> Arrays:
    shapes = {
        "W": (inputs, 2 * hidden),
        "b": (2 * hidden,),
        "U": (hidden, 2 * hidden),
        "Wx": (inputs, hidden),
        "bx": (hidden,),
        "Ux": (hidden, hidden),
    }
    return {f"{side}_{name}": random(shape, seed + at) for at, (name, shape) in enumerate(shapes.items())}


def write_skip_thought(folder: Path, words: list[str], *, inputs: int = 6) -> tuple[Arrays, dict[str, Any]]:
    """The five files; returns the arrays of both models and both tables."""
    uni = skip_thought_arrays("encoder", inputs, 8, 0)
    bi = skip_thought_arrays("encoder", inputs, 4, 10) | skip_thought_arrays("encoder_r", inputs, 4, 20)
    tables = {name: random((len(words), inputs), seed) for seed, name in enumerate(("utable", "btable"), 40)}
    decoder = {"decoder_U": random((3, 3), 50), "Wemb": random((4, 2), 51)}
    np.savez(folder / "uni_skip.npz", **uni, **decoder)
    np.savez(folder / "bi_skip.npz", **bi, **decoder)
    for name, table in tables.items():
        np.save(folder / f"{name}.npy", table)
    (folder / "dictionary.txt").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    return {"uni": uni, "bi": bi}, tables


def write_gensen(
    folder: Path, name: str, words: list[str], *, layers: int = 1, hidden: int = 5, width: int = 4
) -> tuple[tuple[Path, Path], Arrays]:
    """A model and its vocabulary as Python 2 pickled it: protocol 0, text of bytes."""
    arrays = {"src_embedding.weight": random((len(words), width), len(name))}
    arrays |= recurrent(3, width, hidden, layers=layers, prefix="encoder.")
    model = write_state(folder / f"{name}.model", arrays)
    vocabulary = folder / f"{name}_vocab.pkl"
    vocabulary.write_bytes(python2_dictionary(words))
    return (model, vocabulary), arrays


def python2_dictionary(words: list[str]) -> bytes:
    """What `pickle.dump({"word2id": …, "id2word": …}, file)` of Python 2 writes."""

    def text(word: str) -> bytes:
        inner = "".join(chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}" for byte in word.encode())
        quoted = inner.replace("'", "\\'")
        return f"S'{quoted}'\n".encode()

    there = b"".join(text(word) + f"I{row}\ns".encode() for row, word in enumerate(words))
    back = b"".join(f"I{row}\n".encode() + text(word) + b"s" for row, word in enumerate(words))
    return b"(dp0\n" + text("word2id") + b"(dp1\n" + there + b"s" + text("id2word") + b"(dp2\n" + back + b"s."
