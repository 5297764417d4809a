"""The command `python -m analysis` or `manage.py analyse`: reads datasets and writes a folder with the report."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from pathlib import Path

from analysis.errors import DataError
from analysis.results import Options, Outcome

DONE, FAILED, REFUSED = 0, 1, 2
"""Exit codes: done (even if analyses were skipped); an analysis failed; nothing was written."""
WORTHWHILE = 200
"""With fewer matches, one process is faster than two."""
Told = Callable[[int, int, str], None]
"""Called before each analysis with the number done, the number in all, and the name of this one."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's options."""
    usual = Options()
    parser.add_argument("datasets", nargs="*", metavar="DATASET", help="a folder written by export_dataset")
    parser.add_argument("--to", metavar="DIR", help="the folder to write; it must be new or empty")
    parser.add_argument(
        "--only", default="", metavar="ID,…", help="run only these analyses; patterns such as general.* work too"
    )
    parser.add_argument("--system", default="", help="run only the analyses of one system, such as glee")
    parser.add_argument("--seed", type=_whole, default=usual.seed, help="random seed (default: %(default)s)")
    parser.add_argument(
        "--level", type=_level, default=usual.level, help="confidence level of intervals (default: %(default)s)"
    )
    parser.add_argument("--draws", type=_positive, default=usual.draws, help="bootstrap draws (default: %(default)s)")
    parser.add_argument("--min-group", type=_whole, default=usual.min_group, metavar="N",
                        help="hide answers and times of groups of fewer people (default: %(default)s)")  # fmt: skip
    parser.add_argument("--replace", action="store_true", help="replace the output of an earlier analysis in DIR")
    parser.add_argument("--allow-modified", action="store_true",
                        help="accept files changed after the export; every page says so")  # fmt: skip
    parser.add_argument("--list", action="store_true", help="list the analyses and exit")


def _whole(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise ArgumentTypeError(f"{text} is not a whole number of at least 0")
    return value


def _positive(text: str) -> int:
    if (value := _whole(text)) < 1:
        raise ArgumentTypeError(f"{text} is not a whole number of at least 1")
    return value


def _level(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise ArgumentTypeError(f"{text} is not a number between 0 and 1, such as .95")
    return value


def run(arguments: Namespace, out: Callable[[str], object], error: Callable[[str], object]) -> int:
    """Run what the options ask for and return the exit code; `out` and `error` write a line."""
    from analysis.registry import analyses

    if arguments.list:
        for analysis in analyses():
            out(f"{analysis.id:<28} {analysis.title}: {analysis.question}")
        return DONE
    if not arguments.datasets or not arguments.to:
        error("Give at least one dataset and the folder to write: DATASET… --to DIR.")
        return REFUSED
    options = Options(arguments.seed, arguments.level, arguments.draws, arguments.min_group)
    try:
        outcomes = analyse(
            arguments.datasets,
            Path(arguments.to),
            only=[name.strip() for name in arguments.only.split(",") if name.strip()],
            system=arguments.system,
            options=options,
            replace=arguments.replace,
            allow_modified=arguments.allow_modified,
            tell=lambda done, of, name: error(f"[{done + 1}/{of}] {name}"),
        )
    except DataError as problem:
        error(str(problem))
        return REFUSED
    for outcome in outcomes:
        out(f"{outcome.analysis.id}: {outcome.status}" + (f" ({outcome.reason})" if outcome.reason else ""))
    out(f"Written to {arguments.to}: open report.html.")
    return FAILED if any(outcome.status == "failed" for outcome in outcomes) else DONE


def analyse(
    datasets: list[str] | list[Path],
    to: Path,
    *,
    only: list[str] | None = None,
    system: str = "",
    options: Options | None = None,
    replace: bool = False,
    allow_modified: bool = False,
    tell: Told = lambda done, of, name: None,
    processes: int = 2,
) -> list[Outcome]:
    """Run analyses and write what they find.

    Args:
        tell: called before each analysis; an exception that it raises ends everything with nothing written.
        processes: with 2, a second process is used if the dataset is large enough; the files are the same.

    Raises:
        DataError: with one sentence for the user; nothing was written.
    """
    from analysis import output
    from analysis.data import load
    from analysis.processes import from_both_ends, in_order, possible
    from analysis.registry import chosen
    from analysis.report import stamp
    from analysis.running import outcome

    options = options or Options()
    wanted = chosen(only, system)
    output.check(to, replace=replace)
    data = load(*datasets, allow_modified=allow_modified)
    data.settle()
    said = stamp(data)
    in_two = processes > 1 and data.size >= WORTHWHILE and possible()

    with output.folder(to, replace=replace) as made:

        def found(at: int) -> tuple[Outcome, dict[str, str]]:
            one = outcome(wanted[at], data, options)
            return one, output.write_files(one, said, made)

        def begin(done: int, at: int) -> None:
            tell(done, len(wanted), wanted[at].id)

        pairs = from_both_ends(found, len(wanted), begin) if in_two else in_order(found, len(wanted), begin)
        output.write_report(data, pairs, options, made)
    return [one for one, _drawings in pairs]
