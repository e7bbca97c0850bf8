import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('submissions', '0001_tables'),
    ]

    operations = [
        migrations.AddField(
            model_name='submission',
            name='seal',
            field=models.CharField(default='', editable=False, max_length=64),
        ),
        migrations.AlterField(
            model_name='submission',
            name='submitted',
            field=models.DateTimeField(default=django.utils.timezone.now, editable=False),
        ),
    ]

