import django.db.models.deletion
import gluebench.leaderboard.apps.annotation.models
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
            name='Study',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(default=gluebench.leaderboard.apps.annotation.models.new_key, editable=False, max_length=12, unique=True)),
                ('task', models.CharField(max_length=80)),
                ('drawn', models.JSONField()),
                ('texts', models.JSONField()),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('open', models.BooleanField(default=True)),
                ('public', models.BooleanField(default=False)),
                ('agreement', models.JSONField(null=True)),
                ('problems', models.JSONField(default=list)),
                ('scored', models.DateTimeField(null=True)),
                ('labels', models.CharField(blank=True, max_length=64)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='studies', to='benchmarks.benchmark')),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'studies',
                'ordering': ['-created', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='Annotator',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('code', models.CharField(default=gluebench.leaderboard.apps.annotation.models.new_code, max_length=32, unique=True)),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='annotating', to=settings.AUTH_USER_MODEL)),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='annotators', to='people.study')),
            ],
            options={
                'ordering': ['number'],
                'constraints': [models.UniqueConstraint(fields=('study', 'number'), name='one_per_number')],
            },
        ),
        migrations.CreateModel(
            name='Answer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('item', models.PositiveSmallIntegerField()),
                ('label', models.CharField(blank=True, max_length=80)),
                ('at', models.DateTimeField(auto_now=True)),
                ('annotator', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='people.annotator')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('annotator', 'item'), name='one_per_item')],
            },
        ),
    ]
