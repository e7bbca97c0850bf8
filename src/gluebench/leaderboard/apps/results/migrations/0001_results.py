import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('benchmarks', '0001_tables'),
    ]

    operations = [
        migrations.CreateModel(
            name='Results',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('announced', models.DateTimeField(default=django.utils.timezone.now)),
                ('labels', models.BooleanField(default=False)),
                ('made', models.DateTimeField(null=True)),
                ('file', models.CharField(blank=True, max_length=200)),
                ('size', models.PositiveBigIntegerField(default=0)),
                ('sha256', models.CharField(blank=True, max_length=64)),
                ('places', models.JSONField(default=list)),
                ('leaders', models.TextField(blank=True)),
                ('benchmark', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='results', to='benchmarks.benchmark')),
            ],
        ),
    ]
