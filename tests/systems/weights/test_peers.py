"""Against the packages that implement the same models, where they are installed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("h5py")

from systems.weights import files  # noqa: E402

from gluebench.systems.encoders.skip_thought import SkipThoughtEncoder  # noqa: E402
from gluebench.systems.weights.elmo import Elmo  # noqa: E402


def test_elmo_equals_allennlp_with_its_state_carried_over(tmp_path: Path) -> None:
    reason = "allennlp is not installed (its last release wants torch < 1.13)"
    peer = pytest.importorskip("allennlp.modules.elmo", reason=reason, exc_type=ImportError)
    options = files.elmo_options()
    options["lstm"] |= {"cell_clip": 3, "proj_clip": 3}
    paths = files.write_elmo(tmp_path, options, files.elmo_arrays(options))
    theirs = peer._ElmoBiLm(*map(str, paths)).eval()
    ours = Elmo.from_files(*paths, carry=True)
    for batch in ([["A", "warm", "evening"], ["naïve"]], [["x" * 70, "日本"], ["a", "b", "c"]], [["again"]]):
        layers, lengths = ours(batch)
        expected = theirs(peer.batch_to_ids(batch))["activations"]
        for row, length in enumerate(lengths.tolist()):
            stacked = torch.stack([each[row, 1 : 1 + length] for each in expected]).detach()
            np.testing.assert_allclose(layers[:, row, :length], stacked, atol=1e-5)


@pytest.mark.slow
def test_skip_thought_equals_skipthoughts(tmp_path: Path) -> None:
    peer = pytest.importorskip("skipthoughts", reason="skipthoughts is not installed")
    words = ["<eos>", "UNK", "a", "warm", "evening", "came"]
    sides = {"uni_skip": [("encoder", 2400, 0)], "bi_skip": [("encoder", 1200, 10), ("encoder_r", 1200, 20)]}
    for name, parts in sides.items():
        arrays: files.Arrays = {}
        for side, hidden, seed in parts:
            arrays |= files.skip_thought_arrays(side, 620, hidden, seed)
        np.savez(tmp_path / f"{name}.npz", **{key: values / 20 for key, values in arrays.items()})
    for seed, name in enumerate(("utable", "btable")):
        np.save(tmp_path / f"{name}.npy", files.random((len(words), 620), seed))
    (tmp_path / "dictionary.txt").write_text("".join(f"{word}\n" for word in words))
    batch = [["a", "warm", "evening", "came"], ["evening"], ["qqq", "came"]]
    known = [*words, "qqq"]
    ids = torch.zeros(len(batch), 5, dtype=torch.long)
    for row, sentence in enumerate(batch):
        for at, word in enumerate([*sentence, "<eos>"]):
            ids[row, at] = known.index(word) + 1
    lengths = [len(sentence) + 1 for sentence in batch]
    for kind, made in (("uni", peer.UniSkip), ("bi", peer.BiSkip)):
        ours = SkipThoughtEncoder(tmp_path, str.split, kind=kind, norm=False)  # type: ignore[arg-type]
        found = ours.encode([" ".join(words) for words in batch])
        expected = made(str(tmp_path), known).eval()(ids, lengths=lengths)
        np.testing.assert_allclose(found, expected.detach(), atol=1e-5)
