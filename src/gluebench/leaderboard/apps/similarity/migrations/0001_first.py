import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('audit', '0001_log'),
        ('benchmarks', '0001_tables'),
        ('submissions', '0001_tables'),
    ]

    operations = [
        migrations.CreateModel(
            name='Comparison',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now=True)),
                ('submissions', models.PositiveIntegerField()),
                ('pairs', models.JSONField()),
                ('benchmark', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='comparison', to='benchmarks.benchmark')),
            ],
        ),
        migrations.CreateModel(
            name='Sample',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('files', models.JSONField()),
                ('submission', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='sample', to='submissions.submission')),
            ],
        ),
    ]
