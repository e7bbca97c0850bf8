"""Addresses: what a mirror makes of them, and what the hub's are."""

from __future__ import annotations

import pytest

from gluebench.data import DataError
from gluebench.data.sources.http import proxy
from gluebench.data.sources.plan import hub_address, hub_endpoint, mirror_address


@pytest.mark.parametrize(
    ("mirror", "expected"),
    [
        ("", "https://maker.org/a/b%20c.zip?x=1"),
        ("http://lab", "http://lab/a/b%20c.zip?x=1"),
        ("http://lab:8080/", "http://lab:8080/a/b%20c.zip?x=1"),
        ("https://lab/copies/", "https://lab/copies/a/b%20c.zip?x=1"),
    ],
)
def test_a_mirror_takes_the_place_of_scheme_and_host(mirror: str, expected: str) -> None:
    assert mirror_address("https://maker.org/a/b%20c.zip?x=1", mirror) == expected


@pytest.mark.parametrize("mirror", ["lab", "//lab", "ftp://lab", "http://", "http://lab?x", "http://a:b@lab"])
def test_what_is_no_address_of_a_mirror_is_refused(mirror: str) -> None:
    with pytest.raises(DataError, match="mirror: "):
        mirror_address("https://maker.org/a.zip", mirror)


def test_the_hub_has_a_file_at_its_revision() -> None:
    address = hub_address("https://huggingface.co", "nyu-mll/glue", "abc123", "cola/train 1.parquet")
    assert address == "https://huggingface.co/datasets/nyu-mll/glue/resolve/abc123/cola/train%201.parquet"


def test_the_environment_may_name_another_hub_in_place_of_the_public_one() -> None:
    environment = {"HF_ENDPOINT": "https://hub.lab/"}
    assert hub_endpoint("https://huggingface.co/", environment) == "https://hub.lab"
    assert hub_endpoint("https://own.hub", environment) == "https://own.hub"
    assert hub_endpoint("https://huggingface.co", {}) == "https://huggingface.co"
    with pytest.raises(DataError, match=r"HF_ENDPOINT: 'hub\.lab'"):
        hub_endpoint("https://huggingface.co", {"HF_ENDPOINT": "hub.lab"})


def test_the_proxy_is_that_of_the_scheme_unless_the_host_is_excepted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    assert proxy("https://maker.org/a") == ""
    monkeypatch.setenv("https_proxy", "gate.lab:3128")
    monkeypatch.setenv("no_proxy", "near.lab")
    assert proxy("https://maker.org/a") == "http://gate.lab:3128"
    assert proxy("https://near.lab/a") == ""
    assert proxy("http://maker.org/a") == ""
