import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Benchmark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.SlugField(max_length=80, unique=True)),
                ('title', models.CharField(max_length=200)),
                ('manifest', models.TextField()),
                ('parents', models.JSONField(default=list)),
                ('gold', models.CharField(max_length=200)),
                ('gold_digest', models.CharField(max_length=64)),
                ('version', models.PositiveBigIntegerField(default=1)),
                ('added', models.DateTimeField(auto_now_add=True)),
                ('settings', models.JSONField(default=dict)),
                ('revealed', models.DateTimeField(null=True)),
                ('open', models.BooleanField(default=True)),
                ('organizers', models.ManyToManyField(blank=True, related_name='organized', to=settings.AUTH_USER_MODEL)),
                ('board_phase', models.PositiveBigIntegerField(editable=False, null=True)),
                ('due', models.BigIntegerField(editable=False, null=True)),
                ('draft', models.BooleanField(default=False)),
                ('looks', models.JSONField(default=dict)),
                ('reviewers', models.ManyToManyField(blank=True, related_name='reviewed', to=settings.AUTH_USER_MODEL)),
                ('texts', models.JSONField(default=dict)),
            ],
            options={
                'ordering': ['added'],
            },
        ),
        migrations.CreateModel(
            name='DataFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('path', models.CharField(max_length=200)),
                ('task', models.CharField(blank=True, max_length=100)),
                ('split', models.CharField(blank=True, max_length=100)),
                ('rows', models.PositiveBigIntegerField(default=0)),
                ('file', models.CharField(max_length=200)),
                ('size', models.PositiveBigIntegerField()),
                ('sha256', models.CharField(max_length=64)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='data_files', to='benchmarks.benchmark')),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'path'), name='one_file_per_path')],
            },
        ),
    ]
