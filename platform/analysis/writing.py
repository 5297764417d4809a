"""Tables as CSV, HTML and LaTeX, and formatted numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any

from analysis.data import plain
from analysis.results import Column, Table

MAX_SHOWN = 200
"""Maximum number of rows of a table in HTML and LaTeX; the CSV file has all rows."""
MISSING = "–"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_INVISIBLE = "\ufeff\u200b\u200c\u200d\u2060\u00ad\u200e\u200f"
_FORMULA = re.compile(rf"[\s{_INVISIBLE}]*[=+\-@＝＋－＠]|[{_INVISIBLE}]*[\t\r\n]")
_WITHIN = re.compile(rf"([;\t\r\n][\s{_INVISIBLE}]*)(?=[=+\-@＝＋－＠])")
_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "–": "--", "−": "--", "·": r"\textperiodcentered{}", "±": r"$\pm$",
    "≥": r"$\ge$", "≤": r"$\le$", "χ": r"$\chi$", "²": r"\textsuperscript{2}", "∞": r"$\infty$", "→": r"$\to$",
    "×": r"$\times$", "δ": r"$\delta$", "α": r"$\alpha$", "μ": r"$\mu$", "σ": r"$\sigma$",
}  # fmt: skip


def formatted(value: Any, kind: str) -> str:
    """Return a value formatted for readers."""
    value = plain(value)
    if value is None or value == "":
        return MISSING if kind != "text" or value is None else ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int | float) or kind == "text":
        return str(value)
    if kind == "count":
        return f"{value:,.0f}"
    if kind == "p":
        return "< .001" if value < 0.001 else f"{value:.3f}".removeprefix("0")
    if kind == "share":
        return f"{100 * value:.1f} %"
    return f"{value:,.3f}".replace("-", "−") if f"{value:.3f}" not in ("-0.000", "0.000") else "0.000"


def csv_bytes(table: Table) -> bytes:
    """Return all rows at full precision as CSV (RFC 4180, UTF-8); text that looks like a formula is escaped."""
    frame = table.frame.copy()
    for name in frame.columns:
        if frame[name].dtype == object or str(frame[name].dtype) in ("str", "string", "category"):
            frame[name] = [_cell(value) for value in frame[name]]
        elif str(frame[name].dtype) in ("bool", "boolean"):
            frame[name] = frame[name].map({True: "TRUE", False: "FALSE"})
    frame.columns = [escape_formulas(str(name)) for name in frame.columns]
    text: str = frame.to_csv(index=False, lineterminator="\r\n")
    return text.encode("utf-8", "backslashreplace")


def _cell(value: Any) -> Any:
    value = plain(value)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return escape_formulas(value) if isinstance(value, str) else value


def escape_formulas(text: str) -> str:
    """Return text with an apostrophe wherever a spreadsheet would read a formula, including after separators."""
    within = _WITHIN.sub(r"\1'", text)
    return f"'{within}" if _FORMULA.match(text) else within


def html_table(table: Table, max_rows: int = MAX_SHOWN) -> str:
    """Return the table as HTML with a caption, a heading for each column, and at most `max_rows` rows."""
    columns, letters = _columns_and_letters(table, max_rows)
    headings = "".join(f'<th scope="col"{_alignment(column)}>{escape(column.heading)}</th>' for column in columns)
    rows = []
    for row in table.frame.head(max_rows).to_dict("records"):
        cells = []
        for index, column in enumerate(columns):
            content = escape(_content(row, column, letters))
            content = f"<strong>{content}</strong>" if _marked(table.bold, column, row) else content
            content = f"<u>{content}</u>" if _marked(table.underlined, column, row) else content
            cells.append(f'<th scope="row">{content}</th>' if index == 0 else f"<td{_alignment(column)}>{content}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    body = "\n".join(rows) or f'<tr><td colspan="{len(columns)}">No rows.</td></tr>'
    notes = " ".join(note for note in (_truncation_note(table, max_rows), table.note, _legend(letters)) if note)
    footer = f'<p class="note">{escape(notes)}</p>' if notes else ""
    return (
        f'<div class="table" role="region" aria-label="{escape(table.title)}" tabindex="0"><table>'
        f"<caption>{escape(table.title)}</caption>\n"
        f"<thead><tr>{headings}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>{footer}\n"
    )


def html_page(table: Table, stamp: str = "") -> str:
    """Return the table as an HTML page; `stamp` is the warning shown on every page, if any."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(table.title)}</title>'
        "<style>body{font-family:system-ui,sans-serif}table{border-collapse:collapse}caption{text-align:left;"
        "font-weight:600;padding:.4em 0}td,th{padding:.25em .7em;text-align:left;font-weight:400;border-bottom:1px "
        "solid #ddd}thead th{border-bottom:2px solid #333;font-weight:600}.right{text-align:right;"
        "font-variant-numeric:tabular-nums}</style></head><body>\n"
        + (f"<p><strong>{escape(stamp)}</strong></p>\n" if stamp else "")
        + f"{html_table(table)}</body></html>\n"
    )


def latex_table(table: Table, max_rows: int = MAX_SHOWN) -> str:
    """Return the table as LaTeX for the package booktabs."""
    columns, letters = _columns_and_letters(table, max_rows)
    alignments = "".join("l" if column.kind in ("text", "note") else "r" for column in columns)
    lines = [
        f"% {tex(_truncation_note(table, max_rows))}" if _truncation_note(table, max_rows) else "",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{tex(table.title)}}}",
        rf"\begin{{tabular}}{{{alignments}}}",
        r"\toprule",
        " & ".join(tex(column.heading) for column in columns) + r" \\",
        r"\midrule",
    ]
    for row in table.frame.head(max_rows).to_dict("records"):
        cells = []
        for column in columns:
            content = tex(_content(row, column, letters))
            content = rf"\textbf{{{content}}}" if _marked(table.bold, column, row) else content
            content = rf"\underline{{{content}}}" if _marked(table.underlined, column, row) else content
            cells.append(content)
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    if notes := " ".join(note for note in (table.note, _legend(letters)) if note):
        lines.append(rf"\par\smallskip\footnotesize {tex(notes)}")
    return "\n".join(line for line in [*lines, r"\end{table}"] if line) + "\n"


def tex(text: str) -> str:
    """Return text escaped for LaTeX."""
    return "".join(_TEX.get(sign, sign) for sign in " ".join(text.split()))


def _truncation_note(table: Table, max_rows: int) -> str:
    number = len(table.frame)
    return f"The first {max_rows:,} of {number:,} rows; the CSV file has all." if number > max_rows else ""


def _alignment(column: Column) -> str:
    return "" if column.kind in ("text", "note") else ' class="right"'


def _columns_and_letters(table: Table, max_rows: int) -> tuple[list[Column], dict[str, str]]:
    """Return the columns to show, and a letter for each note in the rows shown."""
    shown = table.frame.head(max_rows)
    noted = [value for column in table.columns if column.kind == "note" for value in shown[column.name] if plain(value)]
    letters = {value: _LETTERS[index] for index, value in enumerate(dict.fromkeys(noted))}
    return [column for column in table.columns if column.kind != "note" or letters], letters


def _content(row: Mapping[Any, Any], column: Column, letters: Mapping[str, str]) -> str:
    if column.kind == "note":
        return letters.get(row[column.name], "")
    return formatted(row[column.name], column.kind)


def _legend(letters: Mapping[str, str]) -> str:
    """Return the notes by their letters."""
    return " ".join(f"{letter}: no interval, because {note}." for note, letter in letters.items())


def _marked(marks: Mapping[str, str], column: Column, row: Mapping[Any, Any]) -> bool:
    return column.name in marks and plain(row.get(marks[column.name])) is True
