from typing import Any

import django.utils.timezone
from django.db import migrations, models

from gluebench.leaderboard.seals import seal

SEALED = ["at", "actor", "action", "benchmark", "submission", "reason", "detail"]


def seal_log(apps: Any, schema_editor: Any) -> None:
    entries = apps.get_model("audit", "Entry").objects
    before = ""
    for row in list(entries.order_by("pk")):
        before = seal("log", before, *(getattr(row, name) for name in SEALED))
        entries.filter(pk=row.pk).update(seal=before)


class Migration(migrations.Migration):
    dependencies = [("audit", "0002_keys")]

    operations = [
        migrations.AddField(
            model_name="entry",
            name="seal",
            field=models.CharField(default="", editable=False, max_length=64),
        ),
        migrations.AlterField(
            model_name="entry",
            name="at",
            field=models.DateTimeField(default=django.utils.timezone.now),
        ),
        migrations.RunPython(seal_log, migrations.RunPython.noop),
    ]
