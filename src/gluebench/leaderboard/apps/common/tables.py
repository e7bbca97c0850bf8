"""Tables that lie beside the code which reads them."""

import tomllib
from pathlib import Path
from typing import Any


def toml_beside(module: str, name: str = "") -> dict[str, Any]:
    """The TOML file beside a module, given as `__file__`, of that name or the module's own."""
    path = Path(module)
    place = path.with_name(name) if name else path.with_suffix(".toml")
    return tomllib.loads(place.read_text(encoding="utf-8"))
