from __future__ import annotations

from typing import Any

from django.db import migrations


def fill(apps: Any, schema_editor: Any) -> None:
    """The score that ranks a submission, from the scores it already has."""
    submission = apps.get_model("submissions", "Submission")
    for row in submission.objects.exclude(scores=None).only("pk", "scores").iterator():
        value = ((row.scores or {}).get("score") or {}).get("value")
        submission.objects.filter(pk=row.pk).update(value=value)


class Migration(migrations.Migration):

    dependencies = [("submissions", "0002_history")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
