"""Rename `Record.deed` to `Record.action`; the guard's triggers name no column and stay."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]

    operations = [
        migrations.RenameField("record", "deed", "action"),
        migrations.AlterField("record", "action", models.CharField(max_length=40, verbose_name="action")),
    ]
