import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('benchmarks', '0001_tables'),
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
                ('board', models.JSONField(null=True)),
                ('pairs', models.JSONField(null=True)),
                ('benchmark', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='ranking', to='benchmarks.benchmark')),
                ('health', models.JSONField(null=True)),
            ],
        ),
    ]
