import django.db.models.deletion
import django.utils.timezone
import gluebench.leaderboard.apps.common.text
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('benchmarks', '0001_tables'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Announcement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('title', models.CharField(max_length=120, validators=[gluebench.leaderboard.apps.common.text.plain])),
                ('text', models.TextField(max_length=20000)),
                ('site', models.CharField(max_length=300)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('changed', models.DateTimeField(null=True)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='announcements', to='benchmarks.benchmark')),
            ],
            options={
                'ordering': ['-at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='MailChoice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('pace', models.CharField(choices=[('instant', 'At once'), ('daily', 'Once a day, at 6:00 UTC'), ('none', 'Never')], default='instant', max_length=10)),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='mail_choice', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('due', models.DateTimeField()),
                ('claimed', models.DateTimeField(null=True)),
                ('sent', models.DateTimeField(null=True)),
                ('refused', models.BooleanField(default=False)),
                ('announcement', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='news.announcement')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('refused', False), ('sent', None)), fields=['due'], name='unsent')],
                'constraints': [models.UniqueConstraint(fields=('announcement', 'user'), name='one_mail_each')],
            },
        ),
    ]
