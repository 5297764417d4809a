from django.db import migrations
from django.db.models import F, Value
from django.db.models.functions import Left, StrIndex


def name_the_person(apps, schema_editor):
    """A participant of an oTree session is one person in all of its rounds."""
    identities = apps.get_model("recruiters", "Identity").objects.filter(recruiter="otree", worker__contains="/")
    identities.update(worker=Left("worker", StrIndex(F("worker"), Value("/")) - 1))


class Migration(migrations.Migration):
    dependencies = [("recruiters", "0005_plain_english")]

    operations = [migrations.RunPython(name_the_person, migrations.RunPython.noop)]
