from typing import Any

import django.utils.timezone
from django.db import migrations, models

from gluebench.leaderboard.audit.models import seal

SEALED = "submission_id created why labels package verdict report diagnosis shown scores best".split()


def seal_results(apps: Any, schema_editor: Any) -> None:
    results = apps.get_model("submissions", "Result").objects
    for pk in list(results.values_list("pk", flat=True)):
        row = results.get(pk=pk)
        results.filter(pk=pk).update(seal=seal("result", *(getattr(row, name) for name in SEALED)))


class Migration(migrations.Migration):
    dependencies = [("submissions", "0002_signs_of_life")]

    operations = [
        migrations.AddField(
            model_name="result",
            name="seal",
            field=models.CharField(default="", editable=False, max_length=64),
        ),
        migrations.AlterField(
            model_name="result",
            name="created",
            field=models.DateTimeField(default=django.utils.timezone.now),
        ),
        migrations.RunPython(seal_results, migrations.RunPython.noop),
        migrations.CreateModel(
            name="Worker",
            fields=[
                ("name", models.CharField(max_length=80, primary_key=True, serialize=False)),
                ("seen", models.DateTimeField()),
            ],
        ),
    ]
