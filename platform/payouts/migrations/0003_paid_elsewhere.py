from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("payouts", "0002_journal"),
    ]

    operations = [
        migrations.AlterField(
            model_name="ledgerrow",
            name="state",
            field=models.CharField(
                choices=[
                    ("due", "due"),
                    ("approved", "approved"),
                    ("sent", "sent"),
                    ("confirmed", "confirmed"),
                    ("failed", "failed"),
                    ("unclear", "unclear"),
                    ("written_off", "written off"),
                    ("elsewhere", "paid elsewhere"),
                ],
                default="due",
                max_length=12,
                verbose_name="state",
            ),
        ),
        migrations.AlterField(
            model_name="posting",
            name="credit",
            field=models.CharField(
                choices=[
                    ("cost", "earned by participants"),
                    ("cost_elsewhere", "earned, paid elsewhere"),
                    ("owed", "owed"),
                    ("approved", "approved"),
                    ("in_transit", "in transit"),
                    ("paid", "paid"),
                    ("failed", "failed"),
                    ("unclear", "unclear"),
                    ("written_off", "written off"),
                    ("elsewhere", "paid elsewhere"),
                ],
                max_length=16,
                verbose_name="to account",
            ),
        ),
        migrations.AlterField(
            model_name="posting",
            name="debit",
            field=models.CharField(
                choices=[
                    ("cost", "earned by participants"),
                    ("cost_elsewhere", "earned, paid elsewhere"),
                    ("owed", "owed"),
                    ("approved", "approved"),
                    ("in_transit", "in transit"),
                    ("paid", "paid"),
                    ("failed", "failed"),
                    ("unclear", "unclear"),
                    ("written_off", "written off"),
                    ("elsewhere", "paid elsewhere"),
                ],
                max_length=16,
                verbose_name="from account",
            ),
        ),
    ]
