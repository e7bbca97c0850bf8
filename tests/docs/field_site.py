"""A site of the gluebench on the path: which of its places show a new field of a submission, as JSON.

python field_site.py FOLDER    after docs/contribute/adding-a-submission-field.md was followed
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from leaderboard.made_up import API, HERE, rows

from gluebench.leaderboard.keeping.folder import VARIABLE, SiteFolder


def main(folder: Path) -> dict[str, str]:
    """What each place shows after the author has filled the field in."""
    SiteFolder(folder).create()
    os.environ.update({VARIABLE: str(folder), "DJANGO_SETTINGS_MODULE": "gluebench.leaderboard.settings"})
    import django
    from django.conf import settings

    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    django.setup()
    from django.core.management import call_command
    from django.test import Client
    from django.test.utils import setup_test_environment

    setup_test_environment()
    call_command("migrate", verbosity=0)
    author, _ = rows((Path(__file__).parents[1] / "tiny.toml").read_text())
    owner, visitor = Client(), Client()
    owner.force_login(author)
    form = {"name": "A system", "model": "GRU", "regime": "other"}
    refused = owner.post(f"{HERE}/edit", {**form, "energy_kwh": "-1"})
    owner.post(f"{HERE}/edit", {**form, "energy_kwh": "12.5"})
    places = {
        "form": owner.get("/benchmarks/tiny/submit"),
        "page": visitor.get(HERE),
        "JSON view": visitor.get(f"{HERE}.json"),
        "API": visitor.get(API),
        "export": visitor.get("/benchmarks/tiny.csv"),
        "schema": visitor.get("/api/v1/openapi.json"),
    }
    return {"refused": str(refused.status_code)} | {
        name: response.content.decode() for name, response in places.items()
    }


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
