"""The table that several web processes count guesses in; see CACHES in the settings."""

from typing import Any

from django.core.management import call_command
from django.db import migrations


def create(apps: Any, schema_editor: Any) -> None:
    call_command("createcachetable", "site_cache", database=schema_editor.connection.alias, verbosity=0)


def drop(apps: Any, schema_editor: Any) -> None:
    schema_editor.execute("DROP TABLE IF EXISTS site_cache")


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_teams_tokens")]

    operations = [migrations.RunPython(create, drop)]
