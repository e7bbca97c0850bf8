"""A site whose table of fields has two more than ours: a cost that all see, and a note for the organizers.

python made_up.py FOLDER    prints what each place shows of them, as JSON

A process of its own, since forms, schemas and commands are made of the table when they are imported.
"""

from __future__ import annotations

import json
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

from gluebench.leaderboard.apps.common import fields
from gluebench.leaderboard.keeping.folder import VARIABLE, SiteFolder

ENERGY = fields.Field(
    "energy_kwh",
    "Energy",
    "What the training took from the grid.",
    "number",
    unit="kWh",
    cost="Energy in kWh",
)
CONTACT = fields.Field("contact", "Contact", "Whom the organizers may ask.", private=True)
HERE = "/submissions/made-up"
API = f"/api/v1{HERE}"


def setup(folder: Path) -> None:
    fields.FIELDS.update({ENERGY.name: ENERGY, CONTACT.name: CONTACT})
    fields.LISTED.append(ENERGY)
    fields.SECTIONS["Cost"] += (ENERGY, CONTACT)
    SiteFolder(folder).create()
    os.environ.update({VARIABLE: str(folder), "DJANGO_SETTINGS_MODULE": "gluebench.leaderboard.settings"})
    import django
    from django.conf import settings

    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    django.setup()
    from django.apps import apps

    settings.MIGRATION_MODULES = {app.label: None for app in apps.get_app_configs()}
    from django.core.management import call_command
    from django.db import models
    from django.test.utils import setup_test_environment

    from gluebench.leaderboard.apps.submissions.models import Submission

    models.FloatField(null=True, blank=True).contribute_to_class(Submission, ENERGY.name)
    models.CharField(max_length=80, blank=True).contribute_to_class(Submission, CONTACT.name)
    setup_test_environment()
    call_command("migrate", run_syncdb=True, verbosity=0)


def rows(manifest: str) -> tuple[Any, Any]:
    """The author and an admin, of one graded submission."""
    from django.utils import timezone

    from gluebench.leaderboard.apps.accounts.models import User
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark
    from gluebench.leaderboard.apps.submissions.models import Submission

    author = User.objects.create_user("ada@example.org")
    tiny = Benchmark.objects.create(name="tiny", title="Tiny", manifest=manifest)
    score = {"value": 0.5, "low": 0.4, "high": 0.6, "n": 9, "withheld": None}
    scores = {"complete": True, "missing": [], "score": score, "tasks": {}}
    about = {"key": "made-up", "name": "A system", "model": "GRU", "public": True}
    graded = {"status": "graded", "finished": timezone.now(), "scores": scores, "value": 0.5}
    Submission.objects.create(owner=author, benchmark=tiny, sha256="0" * 64, size=1, **about, **graded)
    return author, User.objects.create(email="admin@example.org", is_staff=True, is_superuser=True)


def places(author: Any, admin: Any) -> dict[str, str]:
    """What each place shows, after the author has filled both in by the form and changed one by the API."""
    from click.testing import CliRunner
    from django.test import Client

    from gluebench.cli import main
    from gluebench.leaderboard.apps.accounts.trust import delete_account, export
    from gluebench.leaderboard.apps.submissions.models import Submission

    visitor, owner, staff = Client(), Client(), Client()
    owner.force_login(author)
    staff.force_login(admin)

    def page(path: str, client: Client = visitor) -> str:
        return client.get(path).content.decode()

    form = {"name": "A system", "model": "GRU", "regime": "other"}
    owner.post(f"{HERE}/edit", {**form, "energy_kwh": "3.5", "contact": "Ada, room 7"})
    refused = owner.post(f"{HERE}/edit", {**form, "energy_kwh": "a lot"})
    patched = owner.patch(API, {"energy_kwh": 12.5}, content_type="application/json")
    with zipfile.ZipFile(export(author)) as archive:
        exported = archive.read("submissions.json").decode()
    shown = {
        "form": page("/benchmarks/tiny/submit", owner),
        "refused": f"{refused.status_code} {refused.context['form'].errors.as_json()}",
        "page": page(HERE),
        "page of its author": page(HERE, owner),
        "row of the board": page(f"{HERE}/detail"),
        "JSON": page(f"{HERE}.json"),
        "JSON of its author": page(f"{HERE}.json", owner),
        "board as JSON": page("/benchmarks/tiny.json"),
        "board as CSV": page("/benchmarks/tiny.csv"),
        "costs": page("/benchmarks/tiny/efficiency"),
        "costs as CSV": page("/benchmarks/tiny/efficiency.csv"),
        "API": page(API),
        "API of its author": patched.content.decode(),
        "API's schema": page("/api/v1/openapi.json"),
        "account's export": exported,
        "admin": page(f"/admin/submissions/submission/{Submission.objects.get().pk}/change/", staff),
        "command": CliRunner().invoke(main, ["submit", "--help"], terminal_width=200).output,
    }
    delete_account(author)
    return shown | {"after deletion": page(f"{HERE}.json") + Submission.objects.get().contact}  # type: ignore[attr-defined]


if __name__ == "__main__":
    setup(Path(sys.argv[1]))
    people = rows((Path(__file__).parents[1] / "tiny.toml").read_text())
    print(json.dumps(places(*people)))
