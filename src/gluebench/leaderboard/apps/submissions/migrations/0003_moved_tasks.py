"""The apps moved into a folder of their own: tasks that wait in the queue name their function by its module."""

from typing import Any

from django.db import migrations

BEFORE, NOW = "gluebench.leaderboard.", "gluebench.leaderboard.apps."


def rename(apps: Any, schema_editor: Any) -> None:
    queued = apps.get_model("django_tasks_database", "DBTaskResult").objects
    for row in queued.filter(task_path__startswith=BEFORE).exclude(task_path__startswith=NOW):
        row.task_path = NOW + row.task_path.removeprefix(BEFORE)
        row.save(update_fields=["task_path"])


class Migration(migrations.Migration):

    dependencies = [
        ("submissions", "0002_seal"),
        ("django_tasks_database", "0018_rename_succeeded_status"),
    ]

    operations = [migrations.RunPython(rename, migrations.RunPython.noop)]
