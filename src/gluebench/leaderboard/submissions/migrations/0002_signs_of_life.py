from django.db import migrations, models

import gluebench.leaderboard.submissions.models


class Migration(migrations.Migration):
    dependencies = [("submissions", "0001_first")]

    operations = [
        migrations.RemoveIndex(model_name="submission", name="sweep"),
        migrations.RemoveField(model_name="submission", name="lease"),
        migrations.AddField(
            model_name="submission",
            name="lease",
            field=models.PositiveIntegerField(
                default=gluebench.leaderboard.submissions.models.lease_seconds
            ),
        ),
        migrations.AddField(
            model_name="submission", name="signs", field=models.PositiveIntegerField(default=0)
        ),
        migrations.AddIndex(
            model_name="submission", index=models.Index(fields=["status"], name="sweep")
        ),
    ]
