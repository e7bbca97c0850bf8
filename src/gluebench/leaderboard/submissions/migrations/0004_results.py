from __future__ import annotations

from typing import Any

from django.db import migrations, models


def fill(apps: Any, schema_editor: Any) -> None:
    """Give each submission that was graded before there was a history the result that it has."""
    submission = apps.get_model("submissions", "Submission")
    result = apps.get_model("submissions", "Result")
    rows = submission.objects.filter(report__isnull=False, results=None).select_related("benchmark")
    for row in rows.iterator():
        provenance = row.report.get("provenance", {})
        result.objects.create(
            submission=row,
            labels=row.benchmark.gold_digest,
            package=provenance.get("version", ""),
            verdict=row.verdict,
            report=row.report,
            scores=row.scores,
        )


class Migration(migrations.Migration):

    dependencies = [("submissions", "0003_value")]

    operations = [
        migrations.AddField("submission", "spent", models.PositiveSmallIntegerField(default=0)),
        migrations.AddField("result", "shown", models.JSONField(null=True)),
        migrations.AddField("result", "scores", models.JSONField(null=True)),
        migrations.AddField("result", "best", models.JSONField(default=dict)),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
