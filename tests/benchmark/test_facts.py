"""Packaged manifests state facts that were looked up."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from gluebench.benchmark.manifest import installed

UNCHECKED = re.compile(r"\bmemory\b|check them before|unverified|as far as (we|I) know", re.IGNORECASE)


@pytest.mark.parametrize("name", sorted(installed()))
def test_no_fact_of_a_packaged_manifest_is_from_memory(name: str) -> None:
    for line in files("gluebench.benchmark").joinpath(f"{name}.toml").read_text().splitlines():
        assert not UNCHECKED.search(line), line
