"""What the fields of a row may hold, told to whoever works on a site from a terminal."""

from __future__ import annotations

from collections.abc import Collection

from django.core.exceptions import ValidationError
from django.db.models import Model

from gluebench.leaderboard.folder import SiteError


def require_fields(row: Model, names: Collection[str], *, what: str) -> None:
    """Raise SiteError with all that is wrong with these fields of a row; `what` names it there."""
    try:
        row.clean_fields(exclude={field.name for field in row._meta.fields} - set(names))
    except ValidationError as error:
        told = "; ".join(f"{field}: {' '.join(said)}" for field, said in error.message_dict.items())
        raise SiteError(f"{what} cannot be taken: {told}") from None
