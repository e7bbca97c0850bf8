from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from oracles.recurrent import both_ways, lstm_step  # noqa: E402
from systems.weights import files  # noqa: E402

from gluebench.systems.weights import WeightsError  # noqa: E402
from gluebench.systems.weights.recurrent import Cove  # noqa: E402


@pytest.mark.parametrize("legacy", [True, False])
def test_every_token_equals_the_formulas_whatever_its_batch(tmp_path: Path, legacy: bool) -> None:
    torch.set_num_threads(1)
    arrays = files.recurrent(4, 6, 5, layers=2)
    model = Cove.from_file(files.write_state(tmp_path / "cove.pth", arrays, legacy=legacy))
    assert (model.inputs, model.dim) == (6, 10)
    lengths = [3, 0, 70, 1]
    inputs = torch.from_numpy(files.random((4, 70, 6), 9))
    found = model(inputs, torch.tensor(lengths))
    assert found.shape == (4, 70, 10)
    assert not found.requires_grad
    for row, length in enumerate(lengths):
        if length:
            expected = both_ways(arrays, inputs[row, :length].numpy(), step=lstm_step, layers=2)
            np.testing.assert_allclose(found[row, :length], expected, atol=1e-5)
        assert not found[row, length:].any()


def test_no_sentences_and_no_tokens() -> None:
    model = Cove(torch.nn.LSTM(6, 5, num_layers=2, bidirectional=True, batch_first=True))
    assert model(torch.zeros(0, 0, 6), torch.zeros(0, dtype=torch.long)).shape == (0, 0, 10)
    assert model(torch.zeros(2, 0, 6), torch.zeros(2, dtype=torch.long)).shape == (2, 0, 10)


def test_the_weights_of_another_model(tmp_path: Path) -> None:
    path = files.write_state(tmp_path / "other.pth", files.recurrent(4, 6, 5, prefix="enc_lstm."))
    with pytest.raises(WeightsError) as raised:
        Cove.from_file(path)
    said = str(raised.value)
    assert "other.pth: not the weights of CoVe" in said
    assert "weight_ih_l0: missing, expected (1200, 300)" in said
    assert "enc_lstm.weight_ih_l0 (20, 6)" in said
