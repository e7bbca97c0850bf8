"""Real GLUE files beside the checkout, not ours to publish: tests that need them skip without them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REAL = Path(os.environ.get("GLUEBENCH_REAL") or Path(__file__).resolve().parents[2] / "shared" / "real")

needs_real = pytest.mark.skipif(
    not (REAL / "gold").is_dir(),
    reason=f"no real GLUE files at {REAL}; set GLUEBENCH_REAL to a folder that has them",
)
