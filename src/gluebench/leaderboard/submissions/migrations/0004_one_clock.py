from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("submissions", "0003_seals")]

    operations = [
        migrations.RemoveField(model_name="submission", name="signs"),
        migrations.AddField(
            model_name="submission", name="renewed", field=models.FloatField(null=True)
        ),
    ]
