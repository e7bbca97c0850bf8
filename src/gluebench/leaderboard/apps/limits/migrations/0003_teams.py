from datetime import timedelta
from typing import Any

from django.db import migrations
from django.utils import timezone

DAYS = 30


def keep_links(apps: Any, schema_editor: Any) -> None:
    """Let the links of teams, which were valid for ever, end after some days."""
    invitation = apps.get_model("limits", "Invitation")
    expires = timezone.now() + timedelta(days=DAYS)
    for pk, code in apps.get_model("accounts", "Team").objects.values_list("pk", "code"):
        invitation.objects.create(team_id=pk, code=code, uses=20, expires=expires)


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0002_participants'),
        ('limits', '0002_participants'),
    ]

    operations = [
        migrations.RunPython(keep_links, migrations.RunPython.noop),
    ]
