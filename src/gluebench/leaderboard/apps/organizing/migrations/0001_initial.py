import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('benchmarks', '0001_tables'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='SiteText',
            fields=[
                ('name', models.CharField(max_length=20, primary_key=True, serialize=False)),
                ('text', models.TextField()),
                ('changed', models.DateTimeField(auto_now=True)),
            ],
        ),
        migrations.CreateModel(
            name='DryRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('gold', models.CharField(blank=True, max_length=200)),
                ('results', models.JSONField(null=True)),
                ('failure', models.CharField(blank=True, max_length=200)),
                ('benchmark', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='dry_run', to='benchmarks.benchmark')),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='FrozenCopy',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('requested', models.DateTimeField(default=django.utils.timezone.now)),
                ('labels', models.BooleanField(default=False)),
                ('worker', models.CharField(blank=True, max_length=80)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('failure', models.CharField(blank=True, max_length=200)),
                ('made', models.DateTimeField(null=True)),
                ('file', models.CharField(blank=True, max_length=200)),
                ('size', models.PositiveBigIntegerField(default=0)),
                ('sha256', models.CharField(blank=True, max_length=64)),
                ('benchmark', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='frozen_copy', to='benchmarks.benchmark')),
            ],
        ),
    ]
