from __future__ import annotations

import builtins
import io
import os
import pickle
import random
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from oracles.recurrent import both_ways, lstm_step  # noqa: E402
from systems.weights import files, modules  # noqa: E402

from gluebench.systems.encoders.gensen import GenSen  # noqa: E402
from gluebench.systems.encoders.infersent import read_infersent  # noqa: E402
from gluebench.systems.weights import WeightsError  # noqa: E402
from gluebench.systems.weights.pickles import read_module, read_plain  # noqa: E402
from gluebench.systems.weights.recurrent import run  # noqa: E402
from gluebench.systems.weights.state import read_state  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:Couldn.t retrieve source code"),
    pytest.mark.filterwarnings("ignore:Detected pickle protocol"),
]
ARRAYS = files.recurrent(4, 6, 5, prefix="enc_lstm.")


@pytest.mark.parametrize("age", ["python2", "legacy", "today"])
@pytest.mark.parametrize("classifier", [False, True])
def test_a_module_saved_whole_gives_its_tensors_without_its_class(
    tmp_path: Path, age: str, classifier: bool
) -> None:
    torch.set_num_threads(1)
    path = modules.write_module(
        tmp_path / "dis.pickle", modules.dissent(ARRAYS, classifier=classifier), age=age
    )
    with pytest.raises(ModuleNotFoundError, match="dissent"):  # what reading it as it is meant would need
        torch.load(path, weights_only=False)
    inputs = files.random((1, 9, 6), 4)
    expected = both_ways(ARRAYS, inputs[0], step=lstm_step, prefix="enc_lstm.")
    outputs, _ = run(read_infersent(path), torch.from_numpy(inputs), torch.tensor([9]))
    np.testing.assert_allclose(outputs[0], expected, atol=1e-5)


@pytest.mark.parametrize("age", ["python2", "legacy", "today"])
def test_what_is_read_of_a_module(tmp_path: Path, age: str) -> None:
    module = modules.dissent(ARRAYS, word_emb_dim=300)
    module.register_buffer("scale", torch.arange(6).view(2, 3).t())
    saved = read_module(modules.write_module(tmp_path / "dis.pickle", module, age=age))
    assert saved.name == "dissent.BLSTMEncoder"
    assert saved.settings["pool_type"] == "max"
    assert saved.settings["word_emb_dim"] == 300
    assert saved.tensors.keys() == {*ARRAYS, "scale"}
    np.testing.assert_array_equal(saved.tensors["scale"], [[0, 3], [1, 4], [2, 5]])
    for name, values in ARRAYS.items():
        np.testing.assert_array_equal(saved.tensors[name], values)


def test_a_view_of_a_storage(tmp_path: Path) -> None:
    path = modules.write_view(tmp_path / "view.pickle", [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    assert read_module(path).tensors["weight"].tolist() == [3.0, 4.0, 5.0]


@pytest.mark.parametrize("settings", [{"tied_weights": True}, {"pool_type": "mean"}])
def test_a_form_of_dissent_that_is_not_read(tmp_path: Path, settings: dict[str, Any]) -> None:
    path = modules.write_module(tmp_path / "dis.pickle", modules.dissent(ARRAYS, **settings))
    with pytest.raises(
        WeightsError, match=r"dissent\.BLSTMEncoder with tied_weights .*; expected False and max"
    ):
        read_infersent(path)


@pytest.mark.parametrize("age", ["python2", "legacy", "today"])
def test_a_module_of_another_kind_is_refused_with_its_shapes(tmp_path: Path, age: str) -> None:
    path = modules.write_module(tmp_path / "linear.pickle", torch.nn.Linear(2, 3), age=age)
    with pytest.raises(WeightsError, match=r"not the weights of InferSent or DisSent") as raised:
        read_infersent(path)
    assert "weight (3, 2)" in str(raised.value)


# -- files that ask for code to be run

SPRUNG = "sprung"


def touching(path: Path) -> list[tuple[str, Any]]:
    """Objects that create the file when they are unpickled without care."""
    shell = f"touch {path}"
    code = f"open({str(path)!r}, 'w').close()"
    return [
        ("posix.system", modules.Call(os.system, shell)),
        ("eval", modules.Call(builtins.eval, code)),
        ("exec", modules.Call(builtins.exec, code)),
        ("subprocess.Popen", modules.Call(subprocess.Popen, ["touch", str(path)])),
        ("os.system", {"word2id": {"a": modules.Call(os.system, shell)}}),
        ("getattr", modules.Call(getattr, modules.Call(__import__, "os"), "system")),
        ("eval", modules.Call(dict, [(modules.Call(eval, code), 1)])),
    ]


READERS: list[Callable[[Path], object]] = [
    read_state,
    read_module,
    read_infersent,
    lambda path: read_plain(path, "words"),
]


def contained(held: bytes) -> list[bytes]:
    """A pickle alone, in the older torch container and in a zip file as of today."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("archive/data.pkl", held)
        archive.writestr("archive/version", "3\n")
        archive.writestr("archive/byteorder", "little")
    return [held, modules.legacy_container(held), buffer.getvalue()]


@pytest.mark.parametrize("reader", READERS)
def test_code_in_a_file_is_never_run(tmp_path: Path, reader: Any) -> None:
    failures = []
    for which, protocol in product(range(7), (0, 2, 4)):
        _, trap = touching(tmp_path / SPRUNG)[which]
        for at, content in enumerate(contained(pickle.dumps(trap, protocol))):
            path = tmp_path / f"{at}.pkl"
            path.write_bytes(content)
            try:
                reader(path)
                message = "not refused"
            except WeightsError as error:
                message = str(error)
            if f"{at}.pkl" not in message or (tmp_path / SPRUNG).exists():
                failures.append((which, protocol, at, message))
                (tmp_path / SPRUNG).unlink(missing_ok=True)
    assert not failures


def test_the_traps_do_spring_where_they_are_unpickled_without_care(tmp_path: Path) -> None:
    """Else the test above could not fail."""
    for which in (0, 1, 2):
        pickle.loads(pickle.dumps(touching(tmp_path / SPRUNG)[which][1]))
        (tmp_path / SPRUNG).unlink()


def test_the_call_that_was_asked_for_is_named(tmp_path: Path) -> None:
    path = tmp_path / "trap.pickle"
    path.write_bytes(modules.legacy_container(pickle.dumps(modules.Call(os.system, "true"), 2)))
    with pytest.raises(WeightsError, match=r"the file asks to call posix\.system, which was not done"):
        read_module(path)
    path.write_bytes(pickle.dumps(modules.Call(os.system, "true"), 2))
    with pytest.raises(
        WeightsError, match=r"the file names posix\.system, which was not imported; expected words"
    ):
        read_plain(path, "words")


def test_a_trap_inside_a_true_module(tmp_path: Path) -> None:
    for age in ("python2", "legacy", "today"):
        module = modules.dissent(ARRAYS)
        module.note = modules.Call(os.system, f"touch {tmp_path / SPRUNG}")
        path = modules.write_module(tmp_path / age, module, age=age)
        with pytest.raises(WeightsError, match=r"asks to call posix\.system"):
            read_infersent(path)
    assert not (tmp_path / SPRUNG).exists()


@pytest.mark.parametrize("reader", READERS)
def test_a_reference_out_of_the_file(tmp_path: Path, reader: Any) -> None:
    stream = io.BytesIO()
    modules.Referring(stream, 2).dump({"word2id": modules.Outside()})
    for at, content in enumerate(contained(stream.getvalue())):
        path = tmp_path / f"{at}.pkl"
        path.write_bytes(content)
        with pytest.raises(WeightsError, match=rf"{at}\.pkl"):
            reader(path)
    if reader is read_module:
        with pytest.raises(WeightsError, match="Unknown saved id type: callable"):
            reader(tmp_path / "1.pkl")


def test_a_pickle_cannot_change_the_classes_of_its_records(tmp_path: Path) -> None:
    # GLOBAL a class, then BUILD it with slots to be set: None and a dictionary.
    held = b"cdissent\nBLSTMEncoder\n(N}U\x0c__setstate__cos\nsystem\nstb."
    path = tmp_path / "slots.pickle"
    path.write_bytes(modules.legacy_container(held))
    with pytest.raises(WeightsError, match="refused"):
        read_module(path)
    # An object told to restore itself by os.system, and a second one then restored.
    made = b"cdissent\nBLSTMEncoder\n)\x81"
    held = made + b"(N}(U\x0c__setstate__cos\nsystem\nutb" + made + b"U\x04trueb."
    path.write_bytes(modules.legacy_container(held))
    with pytest.raises(WeightsError, match="refused"):
        read_module(path)


@pytest.mark.parametrize("age", ["python2", "legacy", "today"])
def test_damaged_modules_are_refused_and_nothing_else_happens(tmp_path: Path, age: str) -> None:
    path = modules.write_module(tmp_path / "dis.pickle", modules.dissent(ARRAYS), age=age)
    whole = path.read_bytes()
    draw = random.Random(7)
    refused = 0
    for _ in range(150):
        damaged = bytearray(whole[: draw.choice([len(whole), draw.randrange(len(whole))])])
        for _ in range(draw.randrange(1, 4)):
            if damaged:
                damaged[draw.randrange(min(len(damaged), 4000))] = draw.randrange(256)
        path.write_bytes(damaged)
        try:
            read_infersent(path)
        except WeightsError:
            refused += 1
    assert refused > 75


def test_a_tensor_that_reaches_beyond_its_numbers(tmp_path: Path) -> None:
    """In the file the size of a parameter is made larger than its storage."""
    module = torch.nn.Linear(2, 3)
    path = modules.write_module(tmp_path / "linear.pickle", module)
    data = path.read_bytes()
    assert data.count(b"K\x03K\x02\x86") == 1  # the size (3, 2) of the weight
    path.write_bytes(data.replace(b"K\x03K\x02\x86", b"K\xffK\x02\x86"))
    with pytest.raises(WeightsError, match="damaged"):
        read_module(path)


# -- state dicts


@pytest.mark.parametrize("legacy", [True, False])
def test_a_state_dict_of_either_container(tmp_path: Path, legacy: bool) -> None:
    arrays = {"a": files.random((2, 3), 1), "b": files.random((4,), 2)}
    state = read_state(files.write_state(tmp_path / "state.pt", arrays, legacy=legacy))
    assert state.keys() == arrays.keys()
    for name, values in arrays.items():
        np.testing.assert_array_equal(state[name], values)


def test_half_precision_is_widened(tmp_path: Path) -> None:
    torch.save({"a": torch.ones(2).half()}, tmp_path / "state.pt")
    assert read_state(tmp_path / "state.pt")["a"].dtype == torch.float32


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ([1, 2], "holds a list; expected tensors by name"),
        (torch.ones(3), "holds a Tensor; expected tensors by name"),
        ({"a": torch.ones(1), "epoch": 3}, r"holds epoch \(int\); expected tensors by name"),
    ],
)
def test_a_torch_file_that_is_no_state_dict(tmp_path: Path, held: object, said: str) -> None:
    torch.save(held, tmp_path / "other.pt")
    with pytest.raises(WeightsError, match=said):
        read_state(tmp_path / "other.pt")


def test_a_tar_file_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "old.pt"
    with tarfile.open(path, "w") as archive:
        archive.addfile(tarfile.TarInfo("pickle"), io.BytesIO())
    for reader in (read_state, read_module):
        with pytest.raises(WeightsError, match=r"a tar file.*torch\.save\(model\.state_dict\(\)"):
            reader(path)


def test_a_compiled_module_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "compiled.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("compiled/data.pkl", pickle.dumps({}, 2))
        archive.writestr("compiled/constants.pkl", pickle.dumps((), 2))
        archive.writestr("compiled/code/main.py", "")
    for reader in (read_state, read_module):
        with pytest.raises(WeightsError, match=r"compiled\.pt"):
            reader(path)


@pytest.mark.parametrize("reader", [*READERS, lambda path: GenSen.from_files(path, path)])
@pytest.mark.parametrize("content", [None, b"", b"one two three\n" * 50, b"PK\x03\x04" + b"\0" * 60])
def test_a_missing_an_empty_and_a_strange_file(tmp_path: Path, reader: Any, content: bytes | None) -> None:
    path = tmp_path / "weights.pkl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(WeightsError, match=r"weights\.pkl"):
        reader(path)


def test_words_of_python_2_keep_their_letters(tmp_path: Path) -> None:
    words = ["naïve", "日本", "it's", "a\\b"]
    path = tmp_path / "vocabulary.pkl"
    path.write_bytes(files.python2_dictionary(words[:3]))
    assert read_plain(path, "words")["word2id"] == {"naïve": 0, "日本": 1, "it's": 2}
    path.write_bytes(pickle.dumps({"word2id": dict.fromkeys(words, 0)}))
    assert list(read_plain(path, "words")["word2id"]) == words
