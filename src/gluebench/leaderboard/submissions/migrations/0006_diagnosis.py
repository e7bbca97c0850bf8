from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("submissions", "0005_declined"),
    ]

    operations = [
        migrations.AddField(
            model_name="result",
            name="diagnosis",
            field=models.JSONField(null=True),
        ),
    ]
