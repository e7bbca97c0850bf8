import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    operations = [
        migrations.CreateModel(
            name="Entry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("actor", models.BigIntegerField(null=True)),
                ("action", models.CharField(max_length=40)),
                ("benchmark", models.CharField(blank=True, db_index=True, max_length=80)),
                ("submission", models.CharField(blank=True, db_index=True, max_length=12)),
                ("reason", models.CharField(blank=True, max_length=400)),
                ("detail", models.JSONField(default=dict)),
                ("seal", models.CharField(default="", editable=False, max_length=64)),
            ],
            options={
                "verbose_name": "entry of the log",
                "verbose_name_plural": "log",
                "ordering": ["-at", "-pk"],
            },
        ),
    ]
