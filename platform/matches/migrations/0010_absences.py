"""Call the field `absences`; its column keeps its name, so that nothing in the database changes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("matches", "0009_plain_english"),
    ]

    operations = [
        migrations.AlterField(
            model_name="match",
            name="fates",
            field=models.JSONField(
                db_column="fates",
                default=dict,
                help_text="participants' seats in which the clock or an agent answers, see matches.absences",
            ),
        ),
        migrations.RenameField(model_name="match", old_name="fates", new_name="absences"),
    ]
