

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('benchmarks', '0002_phases'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='benchmark',
            name='draft',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='benchmark',
            name='looks',
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name='benchmark',
            name='reviewers',
            field=models.ManyToManyField(blank=True, related_name='reviewed', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='benchmark',
            name='texts',
            field=models.JSONField(default=dict),
        ),
    ]
