import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import gluebench.leaderboard.apps.common.text
import gluebench.leaderboard.apps.submissions.models
import gluebench.leaderboard.apps.submissions.queries
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0001_tables'),
        ('benchmarks', '0001_tables'),
        ('phases', '0001_phases'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Submission',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(default=gluebench.leaderboard.apps.submissions.models.new_key, editable=False, max_length=12, unique=True)),
                ('name', models.CharField(max_length=80, validators=[gluebench.leaderboard.apps.common.text.plain])),
                ('model', models.CharField(max_length=80, validators=[gluebench.leaderboard.apps.common.text.plain])),
                ('team', models.CharField(blank=True, max_length=80, validators=[gluebench.leaderboard.apps.common.text.plain])),
                ('link', models.URLField(blank=True, max_length=300, validators=[django.core.validators.URLValidator(['http', 'https'])])),
                ('paper', models.URLField(blank=True, max_length=300, validators=[django.core.validators.URLValidator(['http', 'https'])])),
                ('code', models.URLField(blank=True, max_length=300, validators=[django.core.validators.URLValidator(['http', 'https'])])),
                ('description', models.TextField(blank=True, max_length=4000)),
                ('training_data', models.CharField(blank=True, max_length=400, validators=[gluebench.leaderboard.apps.common.text.plain])),
                ('compute', models.CharField(blank=True, max_length=200, validators=[gluebench.leaderboard.apps.common.text.plain])),
                ('latency_ms', models.FloatField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(0.001), django.core.validators.MaxValueValidator(1000000000.0)])),
                ('regime', models.CharField(choices=[('single-task', 'Single-task training'), ('multi-task', 'Multi-task training'), ('frozen', 'Pre-trained sentence representations, frozen'), ('other', 'Other')], default='other', max_length=16)),
                ('parameters', models.PositiveBigIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(0)])),
                ('shared_parameters', models.PositiveBigIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(0)])),
                ('kind', models.CharField(choices=[('system', 'System'), ('baseline', 'Baseline'), ('human', 'Human')], default='system', max_length=8)),
                ('verified', models.BooleanField(default=False)),
                ('public', models.BooleanField(default=False)),
                ('approved', models.BooleanField(default=True)),
                ('declined', models.CharField(blank=True, max_length=400, validators=[gluebench.leaderboard.apps.common.text.plain])),
                ('published', models.DateTimeField(null=True)),
                ('withdrawn', models.DateTimeField(null=True)),
                ('file', models.FileField(storage=gluebench.leaderboard.apps.submissions.models.submission_storage, upload_to=gluebench.leaderboard.apps.submissions.models.stored_name)),
                ('filename', models.CharField(max_length=120)),
                ('sha256', models.CharField(max_length=64)),
                ('size', models.PositiveBigIntegerField()),
                ('retry_key', models.CharField(editable=False, max_length=64, null=True)),
                ('replaces', models.OneToOneField(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='replaced_by', to='submissions.submission')),
                ('why', models.CharField(blank=True, max_length=200)),
                ('status', models.CharField(choices=[('queued', 'Waiting'), ('running', 'Being graded'), ('graded', 'Graded'), ('invalid', 'Not valid'), ('failed', 'Failed'), ('kept', 'Kept, not graded')], default='queued', max_length=8)),
                ('lease', models.PositiveIntegerField(default=gluebench.leaderboard.apps.submissions.queries.lease_seconds)),
                ('renewed', models.FloatField(null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('spent', models.PositiveSmallIntegerField(default=0)),
                ('submitted', models.DateTimeField(auto_now_add=True)),
                ('finished', models.DateTimeField(null=True)),
                ('verdict', models.CharField(blank=True, max_length=12)),
                ('problems', models.JSONField(default=dict)),
                ('report', models.JSONField(null=True)),
                ('scores', models.JSONField(null=True)),
                ('value', models.FloatField(null=True)),
                ('apart', models.CharField(blank=True, editable=False, max_length=8)),
                ('failure', models.CharField(blank=True, max_length=200)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='submissions', to='benchmarks.benchmark')),
                ('group', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='submissions', to='accounts.team')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='submissions', to=settings.AUTH_USER_MODEL)),
                ('evaluator', models.CharField(blank=True, choices=[('', 'Not stated'), ('first_party', "The model's developer"), ('third_party', 'A third party'), ('collaborative', 'The developer with others'), ('other', 'Other')], max_length=16)),
                ('model_id', models.CharField(blank=True, max_length=120, validators=[gluebench.leaderboard.apps.common.text.plain, django.core.validators.RegexValidator('^\\w[\\w.+-]*/\\w[\\w.+-]*\\Z', 'Write it as developer/model.')])),
                ('began', models.DateTimeField(editable=False, null=True)),
                ('chosen', models.DateTimeField(editable=False, null=True)),
                ('counts', models.BooleanField(default=True, editable=False)),
                ('late', models.BooleanField(default=False, editable=False)),
                ('phase', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='submissions', to='phases.phase')),
                ('public_value', models.FloatField(editable=False, null=True)),
                ('begun', models.DateTimeField(null=True)),
                ('agreement', models.JSONField(editable=False, null=True)),
                ('reproduced', models.JSONField(default=list, editable=False)),
                ('reproduces', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reproductions', to='submissions.submission')),
            ],
            options={
                'ordering': ['-submitted'],
                'indexes': [models.Index(fields=['benchmark', 'status', 'public'], name='board'), models.Index(fields=['status'], name='sweep'), models.Index(fields=['benchmark', 'owner', 'submitted'], name='quota'), models.Index(fields=['benchmark', 'value'], name='ranked'), models.Index(fields=['benchmark', 'begun'], name='turns')],
                'constraints': [models.UniqueConstraint(fields=('owner', 'retry_key'), name='one_per_retry_key'), models.CheckConstraint(condition=models.Q(('reproduces', None), ('public', False), _connector='OR'), name='unreproduced')],
            },
        ),
        migrations.CreateModel(
            name='Revision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('changes', models.JSONField()),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('submission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='revisions', to='submissions.submission')),
            ],
            options={
                'ordering': ['-at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='Result',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created', models.DateTimeField(default=django.utils.timezone.now)),
                ('why', models.CharField(blank=True, max_length=200)),
                ('labels', models.CharField(max_length=64)),
                ('package', models.CharField(max_length=40)),
                ('verdict', models.CharField(max_length=12)),
                ('report', models.JSONField(null=True)),
                ('diagnosis', models.JSONField(null=True)),
                ('shown', models.JSONField(null=True)),
                ('scores', models.JSONField(null=True)),
                ('best', models.JSONField(default=dict)),
                ('seal', models.CharField(default='', editable=False, max_length=64)),
                ('submission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='results', to='submissions.submission')),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='Worker',
            fields=[
                ('name', models.CharField(max_length=80, primary_key=True, serialize=False)),
                ('seen', models.DateTimeField()),
            ],
        ),
    ]
