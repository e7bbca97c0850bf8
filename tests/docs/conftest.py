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


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the pages take for granted."""
    from docs.sandbox import make_template

    folder = tmp_path_factory.mktemp("manual") / "template"
    make_template(folder)
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty folder in which a page is followed."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder
