from typing import Any

import django.db.models.deletion
from django.db import migrations, models
from django.utils import timezone


def keep_teams(apps: Any, schema_editor: Any) -> None:
    """Keep the present teams as memberships, which an admin's edit, or an old site, did not record."""
    membership = apps.get_model("accounts", "Membership")
    now = timezone.now()
    for user in apps.get_model("accounts", "User").objects.all():
        present = membership.objects.filter(user=user, until=None)
        present.exclude(team=user.team_id).update(until=now)
        if user.team_id is None or present.filter(team=user.team_id).exists():
            continue
        # Who has no record at all has been in the present team always.
        has_moved = membership.objects.filter(user=user).exists()
        since = now if has_moved else user.date_joined
        membership.objects.create(user=user, team_id=user.team_id, since=since)


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0003_teams'),
        ('benchmarks', '0002_restricted'),
    ]

    operations = [
        migrations.AddField(
            model_name='team',
            name='benchmark',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='teams', to='benchmarks.benchmark'),
        ),
        migrations.RunPython(keep_teams, migrations.RunPython.noop),
        migrations.RemoveField(
            model_name='user',
            name='team',
        ),
    ]
