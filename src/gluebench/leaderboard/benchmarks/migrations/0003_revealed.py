from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("benchmarks", "0002_policy")]

    operations = [migrations.AddField("benchmark", "revealed", models.DateTimeField(null=True))]
