"""Seats say what their study calls the agent; before, it was called by its specification."""

from django.db import migrations, models


def label_by_specification(apps, schema_editor):
    apps.get_model("matches", "Seat").objects.exclude(agent="").update(label=models.F("agent"))


class Migration(migrations.Migration):
    dependencies = [("matches", "0005_monitored_matches")]

    operations = [
        migrations.AddField(
            model_name="seat",
            name="label",
            field=models.CharField(
                blank=True,
                default="",
                help_text="what its study calls the agent",
                max_length=200,
                verbose_name="label",
            ),
            preserve_default=False,
        ),
        migrations.RunPython(label_by_specification, migrations.RunPython.noop),
    ]
