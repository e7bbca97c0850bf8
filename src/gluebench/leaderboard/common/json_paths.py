"""Parts of a JSON column, read by the database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.db.models import Func, JSONField, Value


class Numbers(Func):
    """The values at paths of a JSON column as a list, read by the database, which is several times faster."""

    function = "JSON_EXTRACT"
    output_field = JSONField()

    def __init__(self, column: str, *paths: Sequence[str]) -> None:
        """Two paths at least, each the names from the column's value on; none may have a quotation mark."""
        # SQLite compares names as they are stored: in ASCII, with escapes.
        quoted = ("$" + "".join(f".{json.dumps(name)}" for name in path) for path in paths)
        super().__init__(column, *map(Value, quoted))

    def as_postgresql(self, compiler: Any, connection: Any, **_: Any) -> Any:
        """Unpack the column once: each use of a large one does it again."""
        (column, _), *paths = map(compiler.compile, self.get_source_expressions())
        parts = ", ".join(f"jsonb_path_query_first(whole, {sql}::jsonpath)" for sql, _ in paths)
        whole = f"(SELECT {column} || '{{}}'::jsonb AS whole OFFSET 0) AS unpacked"
        return f"(SELECT jsonb_build_array({parts}) FROM {whole})", [text for _, (text,) in paths]
