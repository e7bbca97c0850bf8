"""Which of the libraries' static files are served: collected at each first start, so only what pages use."""

from __future__ import annotations

from django.contrib.staticfiles.apps import StaticFilesConfig
from whitenoise.storage import CompressedManifestStaticFilesStorage

_LANGUAGES = "admin/js/vendor/select2/i18n"
UNUSED = [
    *("*.map", "redoc*", "LICENSE*", "README*", "jquery.js", "xregexp.js"),
    *(f"{_LANGUAGES}/[!e]*", f"{_LANGUAGES}/e[!n]*"),
]
"""Maps for debuggers, another documentation page, other languages, texts, scripts not made small."""


class StaticFiles(StaticFilesConfig):
    """Django's application, which collects no unused files."""

    ignore_patterns = [*StaticFilesConfig.ignore_patterns, *UNUSED]


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
