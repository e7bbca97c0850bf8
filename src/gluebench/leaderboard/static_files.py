"""Which of the libraries' static files are served: collected at each first start, so only what pages use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib.staticfiles.finders import AppDirectoriesFinder
from whitenoise.storage import CompressedManifestStaticFilesStorage

_LANGUAGES = "admin/js/vendor/select2/i18n"
UNUSED = [
    *("*.map", "redoc*", "LICENSE*", "README*", "jquery.js", "xregexp.js"),
    *(f"{_LANGUAGES}/[!e]*", f"{_LANGUAGES}/e[!n]*"),
]
"""Maps for debuggers, another documentation page, other languages, texts, scripts not made small."""


class Finder(AppDirectoriesFinder):
    """The applications' files without the unused ones."""

    def list(self, ignore_patterns: Iterable[str] | None) -> Any:
        """As the library's, which `collectstatic` asks."""
        return super().list([*(ignore_patterns or ()), *UNUSED])


class Storage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Names by content, compressed once; a reference to a map for debuggers is left as it is."""

    patterns = tuple(
        (files, rules)
        for files, rules in (
            (files, tuple(rule for rule in rules if "sourceMappingURL" not in str(rule)))
            for files, rules in CompressedManifestStaticFilesStorage.patterns
        )
        if rules
    )
