import django.core.validators
import django.db.models.deletion
import gluebench.leaderboard.apps.common.text
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_tables'),
        ('benchmarks', '0001_tables'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Phase',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=60, validators=[gluebench.leaderboard.apps.common.text.plain])),
                ('opens', models.DateTimeField()),
                ('closes', models.DateTimeField(blank=True, null=True)),
                ('last', models.DateTimeField(editable=False, null=True)),
                ('zone', models.CharField(default='UTC', max_length=64)),
                ('settings', models.JSONField(blank=True, default=dict)),
                ('rows', models.CharField(choices=[('all', 'all rows'), ('public', 'the public share of the rows'), ('held back', 'the rows that are not in the public share'), ('both', 'the public share and, once the phase is closed, the other rows instead')], default='all', max_length=12)),
                ('share', models.FloatField(blank=True, null=True)),
                ('shown', models.CharField(choices=[('always', 'from its start'), ('closed', "with the systems' names from its start, with scores once it is closed"), ('date', 'from the date below on'), ('aside', 'from its start, beside the board of the phase before it')], default='always', max_length=8)),
                ('shown_from', models.DateTimeField(blank=True, null=True)),
                ('counting', models.CharField(choices=[('every', 'every one that its author publishes'), ('best', 'the best one'), ('last', 'the last one'), ('chosen', 'those that its author chooses')], default='every', max_length=8)),
                ('most', models.PositiveSmallIntegerField(default=1, validators=[django.core.validators.MinValueValidator(1)])),
                ('otherwise', models.CharField(choices=[('best', 'the best one'), ('last', 'the last one')], default='best', max_length=8)),
                ('late', models.CharField(choices=[('kept', 'kept and marked late, not graded'), ('graded', 'kept, marked late, and graded for its author'), ('refused', 'refused')], default='kept', max_length=8)),
                ('state', models.JSONField(default=dict, editable=False)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='phases', to='benchmarks.benchmark')),
            ],
            options={
                'ordering': ['opens', 'pk'],
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'name'), name='one_phase_per_name')],
            },
        ),
        migrations.CreateModel(
            name='Extension',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('before', models.DateTimeField()),
                ('closes', models.DateTimeField()),
                ('reason', models.CharField(max_length=400)),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.team')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('phase', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='extensions', to='phases.phase')),
            ],
            options={
                'ordering': ['-created', '-pk'],
            },
        ),
    ]
