"""Whole modules in torch files, as the programs of 2017 and of today save them."""

from __future__ import annotations

import io
import pickle
import struct
import sys
import types
from collections import OrderedDict
from pathlib import Path
from typing import Any

import torch
from systems.weights import files


class Python2(pickle._Pickler):
    """Writes as Python 2 and PyTorch 0.2 did: text as bytes, parameters and tensors by calls."""

    dispatch = dict(pickle._Pickler.dispatch)

    def save_str(self, value: str) -> None:
        held = value.encode("latin1")
        self.write(pickle.BINSTRING + struct.pack("<i", len(held)) + held)
        self.memoize(value)

    dispatch[str] = save_str

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, torch.nn.Parameter):
            return torch.nn.Parameter, (value.data,), (True, False, OrderedDict())
        if isinstance(value, torch.Tensor):
            where = (value.storage_offset(), tuple(value.shape), value.stride())
            return torch._utils._rebuild_tensor, (value._typed_storage(), *where)
        return NotImplemented


def dissent(arrays: files.Arrays, *, classifier: bool = False, **settings: Any) -> Any:
    """A module of the class `dissent.BLSTMEncoder`, which is to be found only while a file is written."""
    made = type("BLSTMEncoder", (torch.nn.Module,), {"__module__": "dissent"})
    whole = type("DisSent", (torch.nn.Module,), {"__module__": "dissent"})
    sys.modules["dissent"] = types.SimpleNamespace(BLSTMEncoder=made, DisSent=whole)  # type: ignore[assignment]
    encoder = made()
    for name, value in ({"bsize": 64, "pool_type": "max", "tied_weights": False} | settings).items():
        setattr(encoder, name, value)
    inputs, hidden = arrays["enc_lstm.weight_ih_l0"].shape[1], arrays["enc_lstm.weight_hh_l0"].shape[1]
    encoder.enc_lstm = torch.nn.LSTM(inputs, hidden, bidirectional=True)
    # One storage for all, as on a graphics card: each parameter is a view with an offset.
    flat = torch.cat([torch.from_numpy(values).flatten() for values in arrays.values()])
    at = 0
    for name, values in arrays.items():
        getattr(encoder.enc_lstm, name.removeprefix("enc_lstm.")).data = flat[at : at + values.size].view(
            values.shape
        )
        at += values.size
    if not classifier:
        return encoder
    model = whole()
    model.encoder = encoder
    model.classifier = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 2))
    return model


def write_module(path: Path, module: Any, *, age: str = "python2") -> Path:
    """The file; the module's class is gone when it is written."""
    writer = types.ModuleType("writer")
    writer.Pickler = Python2 if age == "python2" else pickle.Pickler  # type: ignore[attr-defined]
    writer.dump = pickle.dump  # type: ignore[attr-defined]
    torch.save(module, path, pickle_module=writer, _use_new_zipfile_serialization=age == "today")
    sys.modules.pop("dissent", None)
    return path


class Call:
    """Pickled as a call of a function, to be made by whoever loads it."""

    def __init__(self, function: Any, *arguments: Any, state: Any = None) -> None:
        self.parts = (function, arguments) if state is None else (function, arguments, state)

    def __reduce__(self) -> Any:
        return self.parts


def legacy_container(held: bytes, storages: dict[str, list[float]] | None = None) -> bytes:
    """The older torch container round one pickle, with storages of float32."""
    storages = storages or {}
    numbers = b"".join(struct.pack(f"<q{len(each)}f", len(each), *each) for each in storages.values())
    head = [0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}]
    return b"".join(pickle.dumps(each, 2) for each in head) + held + pickle.dumps(list(storages), 2) + numbers


class Outside:
    """Pickled as a reference to something outside the file."""


class Referring(pickle.Pickler):
    def persistent_id(self, value: Any) -> Any:
        return ("callable", "os.system", "true") if isinstance(value, Outside) else None


class Stored:
    """Pickled as a view of a storage, as PyTorch 0.2 did: four numbers from the third on of storage 7."""


class Viewing(pickle.Pickler):
    def persistent_id(self, value: Any) -> Any:
        where = ("storage", torch.FloatStorage, "7", "cpu", 6, ("8", 2, 4))
        return where if isinstance(value, Stored) else None


def write_view(path: Path, numbers: list[float]) -> Path:
    """A module whose parameter `weight` is the last three numbers of that view."""
    weight = Call(torch._utils._rebuild_tensor, Stored(), 1, (3,), (1,))
    module = torch.nn.Module()
    module.__dict__ |= {"_parameters": OrderedDict(weight=weight)}
    stream = io.BytesIO()
    Viewing(stream, 2).dump(module)
    path.write_bytes(legacy_container(stream.getvalue(), {"7": numbers}))
    return path
