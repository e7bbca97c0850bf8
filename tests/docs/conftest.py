from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation site, as `make docs` builds it."""
    pytest.importorskip("zensical", reason="the generator is not installed; pip install 'gluebench[docs]'")
    from docs.tools.site import build

    folder = tmp_path_factory.mktemp("docs") / "site"
    assert build(folder) > 60
    return folder.resolve()
