from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ranks", "0001_initial")]
    operations = [migrations.AddField("ranking", "health", models.JSONField(null=True))]
