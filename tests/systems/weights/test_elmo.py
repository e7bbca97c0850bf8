from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
h5py = pytest.importorskip("h5py")

from oracles import elmo as oracle  # noqa: E402
from real import REAL, needs_real  # noqa: E402
from systems.weights import files  # noqa: E402

from gluebench.systems.weights import WeightsError  # noqa: E402
from gluebench.systems.weights.elmo import Elmo, read_options  # noqa: E402

FIXTURE = REAL / "elmo-fixture"
SENTENCES = [["A", "warm", "evening", "."], [], ["naïve", "日本", "x" * 300], ["evening", "evening"]]
PUBLISHED = {
    "lstm": {
        "dim": 4096, "projection_dim": 512, "n_layers": 2, "cell_clip": 3, "proj_clip": 3,
        "use_skip_connections": True,
    },
    "char_cnn": {
        "activation": "relu", "embedding": {"dim": 16}, "n_highway": 2, "n_characters": 262,
        "filters": [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]],
        "max_characters_per_token": 50,
    },
}  # fmt: skip
pytestmark = pytest.mark.usefixtures("one_thread")


def written(folder: Path, **changes: Any) -> tuple[dict[str, Any], files.Arrays, tuple[Path, Path]]:
    options = files.elmo_options(**changes)
    arrays = files.elmo_arrays(options)
    return options, arrays, files.write_elmo(folder, options, arrays)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"use_skip_connections": False},
        {"activation": "tanh", "n_highway": 0},
        {"projection_dim": 12, "n_layers": 1},
        {"n_layers": 3},
    ],
)
@pytest.mark.parametrize("fused", [False, True])
def test_every_layer_equals_the_formulas(tmp_path: Path, changes: dict[str, Any], fused: bool) -> None:
    options, arrays, paths = written(tmp_path, **changes)
    model = Elmo.from_files(*paths)
    model.fused = fused
    layers, lengths = model(SENTENCES)
    assert lengths.tolist() == [4, 0, 3, 2]
    assert layers.shape == (1 + options["lstm"]["n_layers"], 4, 4, 2 * options["lstm"]["projection_dim"])
    for at, sentence in enumerate(SENTENCES):
        expected = oracle.elmo(arrays, options, sentence)
        np.testing.assert_allclose(layers[:, at, : len(sentence)], expected, atol=1e-5)
        assert not layers[:, at, len(sentence) :].any()


def test_the_clips_are_met_by_the_random_weights(tmp_path: Path) -> None:
    options, _, paths = written(tmp_path, use_skip_connections=False)
    layers, _ = Elmo.from_files(*paths)(SENTENCES)
    limit = options["lstm"]["proj_clip"]
    assert float(layers[1:].abs().max()) == pytest.approx(limit)
    assert int((layers[1:].abs() > limit - 1e-6).sum()) > 5


@pytest.mark.parametrize(
    ("clips", "again"),
    [((50, 50), {0}), ((4.1, 50), {3}), ((50, 0.9), {1, 2, 3, 4, 5}), ((0.2, 0.1), {5}), ((None, None), {0})],
)
def test_pytorchs_lstm_runs_where_clipping_changes_nothing_and_the_exact_cell_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clips: tuple[float | None, float | None], again: set[int]
) -> None:
    """With states carried over three batches; none, some or all of the first one's reach the limits."""
    _, _, paths = written(tmp_path, cell_clip=clips[0], proj_clip=clips[1])
    exact, fused = (Elmo.from_files(*paths, carry=True) for _ in range(2))
    fused.fused, rows = True, []
    plain = Elmo._layers

    def counted(self: Elmo, inputs: Any, *given: Any, fused: bool) -> Any:
        if self.fused and not fused:
            rows.append(inputs.shape[1])
        return plain(self, inputs, *given, fused=fused)

    monkeypatch.setattr(Elmo, "_layers", counted)
    for batch in ([*SENTENCES, ["warm"] * 40], SENTENCES[:2], SENTENCES):
        torch.testing.assert_close(fused(batch)[0], exact(batch)[0], atol=1e-5, rtol=0)
        for one, other in zip(fused.carried(), exact.carried(), strict=True):
            torch.testing.assert_close(one, other, atol=1e-5, rtol=0)
    assert (rows[0] if rows else 0) in again, rows


def test_a_sentence_does_not_depend_on_its_batch(tmp_path: Path) -> None:
    _, _, paths = written(tmp_path)
    model = Elmo.from_files(*paths)
    together, _ = model(SENTENCES)
    for at, sentence in enumerate(SENTENCES):
        alone, _ = model([sentence])
        torch.testing.assert_close(together[:, at, : len(sentence)], alone[:, 0], atol=1e-5, rtol=0)


def test_a_sentence_longer_than_a_chunk_of_steps(tmp_path: Path) -> None:
    options, arrays, paths = written(tmp_path)
    sentence = [f"w{at % 7}" for at in range(75)]
    layers, _ = Elmo.from_files(*paths)([sentence, ["a"]])
    np.testing.assert_allclose(layers[:, 0], oracle.elmo(arrays, options, sentence), atol=1e-5)


def test_tokens_are_numbered_in_their_order(tmp_path: Path) -> None:
    """Not in a set's order, which each process hashes otherwise: two equal runs then rounded otherwise."""
    model = Elmo.from_files(*written(tmp_path)[2])
    tokens = [f"word{at}" for at in range(50)]
    first = 2  # after the markers
    assert model.numbers([*tokens[:30], "word3", *tokens]).tolist()[:30] == list(range(first, first + 30))
    assert model.numbers(tokens).tolist() == list(range(first, first + 50))


def test_state_is_carried_by_row_through_batches_of_other_sizes(tmp_path: Path) -> None:
    options, arrays, paths = written(tmp_path)
    model = Elmo.from_files(*paths, carry=True)
    states: list[oracle.State] = [{}, {}, {}]
    for batch in ([["a", "b"], ["c"]], [["d"]], [["e"], ["f", "g", "h"], []]):
        layers, _ = model(batch)
        for at, sentence in enumerate(batch):
            expected = oracle.elmo(arrays, options, sentence, states[at])
            np.testing.assert_allclose(layers[:, at, : len(sentence)], expected, atol=1e-5)
    model.forget()
    fresh, _ = model([["a", "b"]])
    np.testing.assert_allclose(fresh[:, 0], oracle.elmo(arrays, options, ["a", "b"]), atol=1e-5)


def test_no_sentences_at_all(tmp_path: Path) -> None:
    _, _, paths = written(tmp_path)
    layers, lengths = Elmo.from_files(*paths)([])
    assert layers.shape == (3, 0, 0, 10)
    assert lengths.shape == (0,)


def test_the_model_is_frozen(tmp_path: Path) -> None:
    _, _, paths = written(tmp_path)
    model = Elmo.from_files(*paths)
    assert not model(SENTENCES)[0].requires_grad
    assert not any(weights.requires_grad for weights in model.parameters())


def test_the_published_size(tmp_path: Path) -> None:
    (tmp_path / "options.json").write_text(json.dumps(PUBLISHED))
    shapes = read_options(tmp_path / "options.json").shapes()
    assert sum(int(np.prod(shape)) for shape in shapes.values()) == 93_600_848
    assert shapes["CNN_high_1/W_carry"] == (2048, 2048)
    assert shapes["RNN_1/RNN/MultiRNNCell/Cell1/LSTMCell/W_0"] == (1024, 16384)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "expected ELMo's options as JSON"),
        ("[1]", "found: list"),
        ('{"lstm": {}}', "char_cnn is missing"),
        (json.dumps(files.elmo_options(n_characters=50)), "n_characters is 50"),
        (json.dumps(files.elmo_options(activation="gelu")), "'gelu'"),
        (json.dumps(files.elmo_options(dim="many")), "dim is 'many'"),
        (json.dumps({"lstm": 3, "char_cnn": 4}), "not the options of ELMo"),
    ],
)
def test_options_that_are_none(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "options.json").write_text(text)
    with pytest.raises(WeightsError, match=r"options\.json") as raised:
        read_options(tmp_path / "options.json")
    assert said in str(raised.value)


def test_weights_that_do_not_fit_the_options(tmp_path: Path) -> None:
    options = files.elmo_options()
    arrays = files.elmo_arrays(options)
    del arrays["CNN_proj/b_proj"]
    arrays["char_embed"] = arrays["char_embed"][:200]
    with pytest.raises(WeightsError) as raised:
        Elmo.from_files(*files.write_elmo(tmp_path, options, arrays))
    assert "CNN_proj/b_proj: missing, expected (5,)" in str(raised.value)
    assert "char_embed: (200, 3), expected (261, 3)" in str(raised.value)
    assert "found in the file: CNN/W_cnn_0 (1, 1, 3, 4)" in str(raised.value)


@pytest.mark.parametrize("content", [b"", b"not HDF5 at all" * 100, None])
def test_a_weight_file_that_is_no_hdf5(tmp_path: Path, content: bytes | None) -> None:
    _, _, (options, weights) = written(tmp_path)
    weights.unlink()
    if content is not None:
        weights.write_bytes(content)
    with pytest.raises(WeightsError, match="expected ELMo's weights as HDF5"):
        Elmo.from_files(options, weights)


@needs_real
@pytest.mark.parametrize("fused", [False, True])
def test_the_top_layer_equals_what_tensorflow_stored(fused: bool) -> None:
    """Ten batches of three sentences, one from each list, with the state carried over."""
    lists = json.loads((FIXTURE / "sentences.json").read_text())
    model = Elmo.from_files(FIXTURE / "options.json", FIXTURE / "lm_weights.hdf5", carry=True)
    model.fused = fused
    worst = 0.0
    for batch in range(len(lists[0])):
        layers, lengths = model([sentences[batch].split() for sentences in lists])
        for row in range(len(lists)):
            with h5py.File(FIXTURE / f"lm_embeddings_{row}.hdf5") as stored:
                forward, backward = stored[str(batch)][()]
            expected = np.concatenate([forward, backward], axis=-1)
            assert len(expected) == lengths[row]
            worst = max(worst, float(np.abs(layers[2, row, : len(expected)].numpy() - expected).max()))
    assert worst <= 5e-6
