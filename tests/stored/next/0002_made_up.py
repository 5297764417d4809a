"""A column that is filled from what is stored, as a later version may need."""

from django.db import migrations, models


def fill(apps, _editor):
    for study in apps.get_model("studies", "Study").objects.all():
        study.made_up = f"{study.slug}: {study.draft['title']}"
        study.save(update_fields=["made_up"])


class Migration(migrations.Migration):
    dependencies = [("studies", "0001_initial")]
    operations = [
        migrations.AddField("study", "made_up", models.CharField(max_length=200, default="")),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
