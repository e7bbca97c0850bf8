"""The log names accounts, benchmarks and submissions by keys, and outlives them."""

from typing import Any

from django.db import migrations, models


def copy_keys(apps: Any, schema_editor: Any) -> None:
    """Write the keys of what the rows' relations led to."""
    entries = apps.get_model("audit", "Entry").objects
    for entry in entries.select_related("benchmark", "submission").iterator():
        entry.account = entry.actor_id
        entry.benchmark_name = entry.benchmark.name if entry.benchmark else ""
        entry.submission_key = entry.submission.key if entry.submission else ""
        entry.save(update_fields=["account", "benchmark_name", "submission_key"])


NEW: dict[str, tuple[str, Any]] = {
    "actor": ("account", models.BigIntegerField(null=True)),
    "benchmark": ("benchmark_name", models.CharField(blank=True, db_index=True, default="", max_length=80)),
    "submission": ("submission_key", models.CharField(blank=True, db_index=True, default="", max_length=12)),
}


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_first")]

    operations = [
        *(migrations.AddField("entry", name, field, preserve_default=False) for name, field in NEW.values()),
        migrations.RunPython(copy_keys),
        *(migrations.RemoveField("entry", former) for former in NEW),
        *(migrations.RenameField("entry", name, former) for former, (name, _) in NEW.items()),
        migrations.DeleteModel("Comparison"),
        migrations.DeleteModel("Sample"),
    ]
