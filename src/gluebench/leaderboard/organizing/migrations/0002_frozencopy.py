import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("benchmarks", "0004_spelling"), ("organizing", "0001_initial")]
    operations = [
        migrations.CreateModel(
            name="FrozenCopy",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("requested", models.DateTimeField(default=django.utils.timezone.now)),
                ("labels", models.BooleanField(default=False)),
                ("worker", models.CharField(blank=True, max_length=80)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("failure", models.CharField(blank=True, max_length=200)),
                ("made", models.DateTimeField(null=True)),
                ("file", models.CharField(blank=True, max_length=200)),
                ("size", models.PositiveBigIntegerField(default=0)),
                ("sha256", models.CharField(blank=True, max_length=64)),
                (
                    "benchmark",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="frozen_copy",
                        to="benchmarks.benchmark",
                    ),
                ),
            ],
        ),
    ]
