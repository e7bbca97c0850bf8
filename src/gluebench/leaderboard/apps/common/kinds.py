"""Names of the types that all rooms of the site pass on."""

from collections.abc import Mapping
from typing import Any

Values = dict[str, Any]
"""Values by name: of a row, an object of JSON, or what a template shows."""
Facts = Mapping[str, Any]
"""The same where they are only read: the scores of a row, a stored comparison."""
