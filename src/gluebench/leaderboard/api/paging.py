"""Lists in pages: one page, how many there are, and the addresses of its neighbours."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.http import HttpRequest
from ninja import Schema
from pydantic import Field

MOST = 1000


class Asked(Schema):
    """Which page, and how long."""

    page: int = Field(1, ge=1, le=1_000_000)
    per_page: int = Field(100, ge=1, le=MOST)


class Paged(Schema):
    """What every list says besides its items."""

    count: int
    """Items in all."""
    page: int
    pages: int
    next: str | None
    previous: str | None


class Place(NamedTuple):
    """A page of a list, without its items."""

    path: str
    query: Mapping[str, Any]
    page: int
    per_page: int
    total: int

    @classmethod
    def of(cls, request: HttpRequest, asked: Asked, total: int, **query: Any) -> Place:
        """The page that was asked for; `query` are the list's other parameters."""
        given = {name: value for name, value in query.items() if value is not None}
        return cls(request.path, given, asked.page, asked.per_page, total)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        pages = max(1, math.ceil(self.total / self.per_page))
        return {
            "count": self.total,
            "page": self.page,
            "pages": pages,
            "next": self._address(self.page + 1) if self.page < pages else None,
            "previous": self._address(min(self.page - 1, pages)) if self.page > 1 else None,
        }

    def of_these(self, items: Any) -> Any:
        """Its part of all the items, or of a query."""
        start = (self.page - 1) * self.per_page
        return items[start : start + self.per_page]

    def _address(self, page: int) -> str:
        return f"{self.path}?{urlencode({**self.query, 'page': page, 'per_page': self.per_page})}"
