import django.db.models
from django.db import migrations

import gluebench.leaderboard.text


class Migration(migrations.Migration):

    dependencies = [
        ("submissions", "0004_results"),
    ]

    operations = [
        migrations.AddField(
            model_name="submission",
            name="declined",
            field=django.db.models.CharField(
                blank=True, max_length=400, validators=[gluebench.leaderboard.text.plain]
            ),
        ),
    ]
