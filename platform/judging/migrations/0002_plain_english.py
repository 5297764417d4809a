import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("judging", "0001_initial"),
    ]

    operations = [
        migrations.RenameModel("Sitting", "JudgingRun"),
        migrations.AlterModelOptions(
            name="judgingrun",
            options={"ordering": ["-asked_at"], "verbose_name": "judging run", "verbose_name_plural": "judging runs"},
        ),
        migrations.AlterField(
            model_name="judgingrun",
            name="collection",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="judging_runs", to="collecting.collection"
            ),
        ),
    ]
