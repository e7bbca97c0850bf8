from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('benchmarks', '0003_organizing'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RenameField(model_name='benchmark', old_name='organisers', new_name='organizers'),
        migrations.AlterField(
            model_name='benchmark',
            name='organizers',
            field=models.ManyToManyField(blank=True, related_name='organized', to=settings.AUTH_USER_MODEL),
        ),
    ]
