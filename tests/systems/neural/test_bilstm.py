from __future__ import annotations

import numpy as np
import pytest
import torch
from oracles.sentence_models import Floats, bilstm

from gluebench.systems.devices import DeviceError
from gluebench.systems.neural.bilstm import BiLstm
from gluebench.systems.weights.recurrent import run as run_packed

LENGTHS = torch.tensor([4, 7, 1, 7, 3])


def weights_of(module: torch.nn.Module) -> dict[str, Floats]:
    return {name: value.detach().double().numpy() for name, value in module.named_parameters()}


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_states_are_those_of_the_formula_whatever_stands_after_a_sentence(layers: int) -> None:
    model = BiLstm(5, 4, layers=layers)
    inputs = torch.randn(5, 7, 5)
    states = model(inputs, LENGTHS)
    assert states.shape == (5, 7, 8)
    for row, length in enumerate(LENGTHS.tolist()):
        expected = bilstm(inputs[row, :length].double().numpy(), weights_of(model.lstm), layers)
        np.testing.assert_allclose(states[row, :length].detach(), expected, atol=1e-6)
        assert not states[row, length:].any()


def test_states_and_gradients_equal_those_of_the_packed_lstm() -> None:
    model = BiLstm(5, 16)
    inputs = torch.randn(5, 7, 5, requires_grad=True)
    towards = torch.randn(5, 7, 32)
    found = []
    for run in (model, lambda given, lengths: run_packed(model.lstm, given, lengths)[0]):
        model.zero_grad()
        inputs.grad = None
        states = run(inputs, LENGTHS)
        (states * towards).sum().backward()
        assert inputs.grad is not None
        found.append([states.detach(), inputs.grad, *(each.grad for each in model.parameters())])
    for ours, packed in zip(*found, strict=True):
        assert torch.allclose(ours, packed, atol=1e-6)


def test_the_derivative_is_the_numerical_one() -> None:
    model = BiLstm(2, 2).double()
    inputs = torch.randn(3, 4, 2, dtype=torch.float64, requires_grad=True)
    lengths = torch.tensor([2, 4, 1])
    assert torch.autograd.gradcheck(lambda given: model(given, lengths), (inputs,))


def test_weights_are_an_ordinary_lstms() -> None:
    plain = torch.nn.LSTM(5, 4, 2, bidirectional=True, batch_first=True)
    model = BiLstm(5, 4)
    model.lstm.load_state_dict(plain.state_dict())
    inputs = torch.randn(2, 6, 5)
    assert torch.allclose(model(inputs, torch.tensor([6, 6])), plain(inputs)[0], atol=1e-6)


def test_the_papers_encoder_has_75_6_million_weights() -> None:
    with torch.device("meta"):
        sizes = {
            dim: sum(each.numel() for each in BiLstm(dim, 1500).parameters()) for dim in (300, 900, 1024)
        }
    assert {dim: round(size / 1e6, 1) for dim, size in sizes.items()} == {300: 75.6, 900: 82.8, 1024: 84.3}


def test_a_cpu_without_lstms_in_bfloat16_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError(
            "could not create a primitive descriptor for the LSTM forward propagation primitive"
        )

    monkeypatch.setattr(torch, "lstm", refuse)
    with pytest.raises(DeviceError, match="cannot compute LSTMs in bfloat16; choose fp32"):
        BiLstm(2, 2)(torch.zeros(1, 1, 2), torch.tensor([1]))
