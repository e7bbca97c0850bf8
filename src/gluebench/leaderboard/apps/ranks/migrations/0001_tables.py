import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('benchmarks', '0001_tables'),
        ('phases', '0001_phases'),
        ('submissions', '0001_tables'),
    ]

    operations = [
        migrations.CreateModel(
            name='Pair',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stamp', models.CharField(max_length=64)),
                ('asked', models.DateTimeField()),
                ('at', models.DateTimeField(null=True)),
                ('failure', models.CharField(blank=True, max_length=200)),
                ('found', models.JSONField(null=True)),
                ('a', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='submissions.submission')),
                ('b', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='submissions.submission')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('a', 'b'), name='one_per_pair')],
            },
        ),
        migrations.CreateModel(
            name='Ranking',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveBigIntegerField(default=0)),
                ('stamp', models.CharField(blank=True, max_length=64)),
                ('since', models.DateTimeField(null=True)),
                ('asked', models.DateTimeField(null=True)),
                ('at', models.DateTimeField(null=True)),
                ('failure', models.CharField(blank=True, max_length=200)),
                ('systems', models.JSONField(default=list)),
                ('board', models.JSONField(null=True)),
                ('pairs', models.JSONField(null=True)),
                ('health', models.JSONField(null=True)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rankings', to='benchmarks.benchmark')),
                ('phase', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='phases.phase')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'phase'), name='one_ranking_per_phase'), models.UniqueConstraint(condition=models.Q(('phase', None)), fields=('benchmark',), name='one_ranking_without_phase')],
            },
        ),
        migrations.CreateModel(
            name='Decisions',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('score', models.CharField(max_length=400)),
                ('counts', models.JSONField()),
                ('better', models.TextField()),
                ('p_values', models.TextField(blank=True)),
                ('ranking', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='decisions', to='ranks.ranking')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('ranking', 'score'), name='one_per_score')],
            },
        ),
    ]
