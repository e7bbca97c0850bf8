import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("submissions", "0004_one_clock")]

    operations = [
        migrations.AddField(
            model_name="submission",
            name="replaces",
            field=models.OneToOneField(
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="replaced_by",
                to="submissions.submission",
            ),
        ),
    ]
