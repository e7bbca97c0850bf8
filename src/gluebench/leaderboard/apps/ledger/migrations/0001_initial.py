from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Leaf',
            fields=[
                ('index', models.BigIntegerField(primary_key=True, serialize=False)),
                ('benchmark', models.CharField(blank=True, db_index=True, max_length=80)),
                ('submission', models.CharField(blank=True, db_index=True, max_length=12)),
                ('data', models.TextField()),
                ('texts', models.JSONField(null=True)),
                ('note', models.TextField(blank=True)),
            ],
            options={
                'verbose_name_plural': 'leaves',
                'ordering': ['-index'],
            },
        ),
        migrations.CreateModel(
            name='Node',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('level', models.PositiveSmallIntegerField()),
                ('index', models.BigIntegerField()),
                ('hash', models.BinaryField(max_length=32)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('level', 'index'), name='one_node_per_place')],
            },
        ),
    ]
