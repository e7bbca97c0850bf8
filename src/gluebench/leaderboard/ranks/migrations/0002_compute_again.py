from typing import Any

from django.db import migrations


def forget(apps: Any, schema_editor: Any) -> None:
    """Rankings of before lack the rule of rank scores, so that each is computed again."""
    apps.get_model("ranks", "Ranking").objects.update(version=0, stamp="")


class Migration(migrations.Migration):

    dependencies = [("ranks", "0001_tables")]

    operations = [migrations.RunPython(forget, migrations.RunPython.noop)]
