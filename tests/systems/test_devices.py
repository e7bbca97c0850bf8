"""Where and how precisely PyTorch computes, without a GPU."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed; pip install 'gluebench[train]'")

from gluebench.systems.devices import DeviceError, arithmetic, autocast, device  # noqa: E402


def flags() -> list[str]:
    if not hasattr(torch.backends.cudnn, "rnn"):
        pytest.skip("needs PyTorch 2.9")
    parts = (torch.backends.cuda.matmul, torch.backends.cudnn.conv, torch.backends.cudnn.rnn)
    return [part.fp32_precision for part in parts]


def test_fp32_is_ieee_for_lstms_too_and_the_settings_come_back() -> None:
    before = flags()
    for precision, expected in (("fp32", "ieee"), ("tf32", "tf32"), ("bf16", "tf32")):
        with arithmetic(precision):
            assert flags() == [expected] * 3
        assert flags() == before


def test_settings_of_the_caller_that_differ_between_lstms_and_convolutions_are_kept() -> None:
    before = flags()
    try:
        torch.backends.cudnn.rnn.fp32_precision = "ieee"
        with pytest.raises(ValueError, match="within"), arithmetic("tf32"):
            raise ValueError("within")
        assert flags() == [*before[:2], "ieee"]
    finally:
        torch.backends.cudnn.rnn.fp32_precision = before[2]


def test_bf16_rounds_products_on_a_cpu_too_and_the_others_do_not() -> None:
    values = torch.full((1, 1), 1 + 2**-9)
    assert [(values @ values).item() for _ in "x"] == [(1 + 2**-9) ** 2]
    with autocast("bf16", "cpu"):
        assert (values @ values).item() == 1.0
    with autocast("tf32", "cuda:1"):
        assert (values @ values).item() > 1.0


def test_auto_is_a_gpu_wherever_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for there, name in ((True, "cuda"), (False, "cpu")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda there=there: there)
        assert device("auto") == device(None) == name
    assert device("cpu") == "cpu"


@pytest.mark.parametrize("name", ["gpu", "cuda:99", "cuda:x"])
def test_a_device_that_is_not_there_is_one_line(name: str) -> None:
    with pytest.raises(DeviceError, match=f"the device {name} cannot be used: .+; choose auto") as raised:
        device(name)
    assert "\n" not in str(raised.value)
