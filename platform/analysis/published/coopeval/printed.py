"""Numbers printed in the paper, which are shown next to ours."""

from __future__ import annotations

from collections.abc import Mapping

MODELS: Mapping[str, str] = {
    "anthropic/claude-sonnet-4.5(CoT)": "Claude",
    "google/gemini-3-flash-preview(CoT)": "Gemini-R",
    "google/gemini-3-flash-preview(IO)": "Gemini-B",
    "openai/gpt-5.2(CoT)": "GPT-5.2",
    "openai/gpt-4o-2024-05-13(CoT)": "GPT-4o",
    "qwen/qwen3-30b-a3b-instruct-2507(CoT)": "Qwen-30b",
}
"""The paper's names of the agents, by those in the published records, in the order of its tables."""

AGGREGATE: Mapping[tuple[str, str], str] = {
    ("none", "mean"): ".072±.015 .111±.056 .085±.037 .133±.038 .143±.022 -.132±.065 .090±.036",
    ("none", "fitness"): ".021±.021 -.026±.026 -.020±.015 -.060±.036 .021±.021 -.335±.105 -.061±.044",
    ("none", "rank"): "3.5±.0 3.0±.2 2.8±.1 3.0±.2 3.1±.3 5.4±.4 3.8±.4",
    ("repetition", "mean"): ".587±.141 .624±.128 .627±.138 .650±.119 .588±.148 .496±.176 .535±.152",
    ("repetition", "fitness"): ".992±.005 .810±.086 .972±.017 .912±.059 .788±.098 .643±.129 .616±.167",
    ("repetition", "rank"): "3.5±.0 3.6±.3 2.9±.5 2.8±.6 3.0±.5 4.8±.7 3.9±.4",
    ("reputation_first_order", "mean"): ".321±.138 .375±.164 .284±.147 .200±.158 .325±.141 .344±.156 .399±.117",
    ("reputation_higher_order", "mean"): ".227±.097 .273±.126 .146±.115 .089±.061 .281±.110 .259±.158 .315±.074",
    ("mediation", "mean"): ".695±.082 .863±.086 .868±.071 .853±.075 .760±.112 .243±.063 .583±.127",
    ("mediation", "fitness"): "1.000±.000 .934±.037 .988±.009 1.000±.000 .917±.052 .251±.082 .606±.101",
    ("mediation", "rank"): "3.5±.0 3.0±.5 2.4±.2 2.8±.2 3.5±.2 5.5±.3 3.8±.4",
    ("contract", "mean"): ".801±.037 .557±.289 1.055±.061 1.138±.059 .831±.061 .450±.117 .778±.269",
    ("contract", "fitness"): ".999±.001 .798±.167 .979±.021 .999±.001 .901±.078 .372±.185 .714±.106",
    ("contract", "rank"): "3.5±.0 3.2±.2 3.2±.4 2.7±.0 2.7±.0 4.8±.4 4.4±.5",
}
"""Mean, fitness and rank by deviation rating ± SE over the four dilemmas: of all agents, then of each of `MODELS`."""
DESIGNS: Mapping[tuple[str, str], str] = {
    ("mediation", "ns"): "95.8±4.2 95.8±4.2 97.2±2.8 75.0±16.0 27.8±14.7 61.1±15.2",
    ("mediation", "wd"): "45.8±26.7 50.0±28.9 47.2±27.4 33.3±23.6 11.1±7.9 33.3±19.2",
    ("contract", "ns"): "91.7±4.8 91.7±8.3 87.5±12.5 91.7±8.3 65.3±14.8 59.7±16.7",
    ("contract", "wd"): "75.0±14.4 87.5±8.0 87.5±12.5 91.7±8.3 52.8±19.0 43.1±17.2",
}
"""Percentage of proposals that make cooperation stable (ns) and weakly dominant (wd), by proposer, ± SE over games."""
RANKS: Mapping[str, int] = {
    "contract": 1, "mediation": 2, "repetition": 3, "reputation_first_order": 4, "reputation_higher_order": 5,
    "none": 6,
}  # fmt: skip
REASONS: Mapping[str, float] = {
    "individual_utility": 0.795, "equilibrium": 0.702, "strategic_influence": 0.491, "uncertainty": 0.327,
}  # fmt: skip
"""Shares of 38,350 reasonings with a label."""


def of_all(measure: str) -> dict[str, str]:
    """Return a measure of all agents by mechanism, such as ".072 ± .015"."""
    rows = {mechanism: row for (mechanism, name), row in AGGREGATE.items() if name == measure}
    return {mechanism: row.split()[0].replace("±", " ± ") for mechanism, row in rows.items()}


def values(row: str) -> list[tuple[float, float]]:
    """Return the means and standard errors of a row."""
    return [(float(mean), float(se)) for mean, _sign, se in (cell.partition("±") for cell in row.split())]
