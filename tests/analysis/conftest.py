"""Gold of a benchmark made in the test."""

from __future__ import annotations

import pytest
from compared import MANIFEST

from gluebench.benchmark import load_benchmark
from gluebench.scoring import read_gold


@pytest.fixture
def make(tmp_path):
    """Gold from a manifest and columns of labels; submissions are given as mappings."""

    def gold(tasks, columns, *, groups=None, tags=None, partial=False):
        path = tmp_path / "manifest.toml"
        path.write_text(MANIFEST + "".join(tasks))
        folder = tmp_path / "gold"
        folder.mkdir()
        for name, values in columns.items():
            rows = "".join(f"{index}\t{value}\n" for index, value in enumerate(values))
            (folder / f"{name}.tsv").write_text(f"index\tlabel\n{rows}")
        for name, values in (groups or {}).items():
            rows = "".join(f"{index}\t{value}\n" for index, value in enumerate(values))
            (folder / f"{name}.metadata.tsv").write_text(f"index\tgroup\n{rows}")
        for name, values in (tags or {}).items():
            rows = "".join(f"{index}\t{value}\n" for index, value in enumerate(values))
            (folder / f"{name}.phenomena.tsv").write_text(f"index\tcoarse\tfine\n{rows}")
        return read_gold(folder, load_benchmark(path), partial=partial)

    return gold
