"""Lists in pages: one page, how many there are, and the addresses of its neighbours."""

from __future__ import annotations

import math
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from ninja import Schema
from pydantic import Field

MOST = 1000


class Asked(Schema):
    """Which page, and how long."""

    page: int = Field(1, ge=1, le=1_000_000)
    per_page: int = Field(100, ge=1, le=MOST)

    def page_of(
        self, request: HttpRequest, items: Any, total: int, **query: Any
    ) -> tuple[Any, dict[str, Any]]:
        """The page's part of all items, and what `Paged` says; `query` are the list's other parameters."""
        pages = max(1, math.ceil(total / self.per_page))
        start = (self.page - 1) * self.per_page

        def address(page: int) -> str:
            return f"{request.path}?{urlencode({**query, 'page': page, 'per_page': self.per_page})}"

        return items[start : start + self.per_page], {
            "count": total,
            "page": self.page,
            "pages": pages,
            "next": address(self.page + 1) if self.page < pages else None,
            "previous": address(min(self.page - 1, pages)) if self.page > 1 else None,
        }


class Paged(Schema):
    """What every list says besides its items."""

    count: int
    """Items in all."""
    page: int
    pages: int
    next: str | None
    previous: str | None
