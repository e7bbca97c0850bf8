"""The simple systems by name, with what a board says of them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from gluebench.systems.protocols import SimpleSystem


@dataclass(frozen=True, slots=True)
class SystemEntry:
    """A system one can make, as a board shows it; the entries are in registry.toml."""

    name: str
    title: str
    method: str
    """In a few words."""
    description: str
    """One sentence."""
    made_by: str
    """Module and class, as "bag:BagOfWords"."""
    regime: str = "single-task"
    """How it is trained: single-task, multi-task, frozen or other (as Table 4 groups its rows)."""

    def make(self) -> SimpleSystem:
        """A new one, not fitted yet; its module is imported only now, since some need NumPy."""
        module, _, name = self.made_by.partition(":")
        system: SimpleSystem = getattr(import_module(f"gluebench.systems.{module}"), name)()
        return system


_FILE = Path(__file__).with_suffix(".toml")
SYSTEMS: Mapping[str, SystemEntry] = {
    name: SystemEntry(name, **fields)
    for name, fields in tomllib.loads(_FILE.read_text(encoding="utf-8")).items()
}
"""Name to system, weakest first."""
