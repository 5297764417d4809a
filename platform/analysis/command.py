"""The command `python -m analysis`, or `manage.py analyse`: read datasets and write a folder with the report."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.errors import DataError
from analysis.options import Options

if TYPE_CHECKING:
    from analysis.results import Outcome

DONE, FAILED, REFUSED = 0, 1, 2
"""Exit codes: 0, done (even if analyses were skipped); 1, an analysis failed; 2, nothing was written."""
MIN_MATCHES_FOR_FORK = 200
"""Below this number of matches, one process is faster than two."""
Progress = Callable[[int, int, str], object]
"""Called before each analysis with the number begun, the total number, and the name of the next analysis."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's options."""
    defaults = Options()
    parser.add_argument("datasets", nargs="*", metavar="DATASET", help="a folder written by export_dataset")
    parser.add_argument("--to", metavar="DIR", help="the folder to write; it must be new or empty")
    parser.add_argument(
        "--only", default="", metavar="ID,…", help="run only these analyses; patterns such as general.* work too"
    )
    parser.add_argument("--system", default="", help="run only the analyses of one system, such as glee")
    parser.add_argument(
        "--seed", type=partial(_at_least, 0), default=defaults.seed, help="random seed (default: %(default)s)"
    )
    parser.add_argument(
        "--level", type=_level, default=defaults.level, help="confidence level of intervals (default: %(default)s)"
    )
    parser.add_argument(
        "--draws", type=partial(_at_least, 1), default=defaults.draws, help="bootstrap draws (default: %(default)s)"
    )
    parser.add_argument("--min-group", type=partial(_at_least, 0), default=defaults.min_group, metavar="N",
                        help="hide answers and times of groups with fewer people (default: %(default)s)")  # fmt: skip
    parser.add_argument("--replace", action="store_true", help="replace the output of an earlier analysis in DIR")
    parser.add_argument("--allow-modified", action="store_true",
                        help="accept files changed after the export; every page then says so")  # fmt: skip
    parser.add_argument("--list", action="store_true", help="list the analyses and exit")


def _at_least(least: int, text: str) -> int:
    try:
        if (value := int(text)) >= least:
            return value
    except ValueError:
        pass
    raise ArgumentTypeError(f"{text} is not a whole number of at least {least}")


def _level(text: str) -> float:
    try:
        if 0 < (value := float(text)) < 1:
            return value
    except ValueError:
        pass
    raise ArgumentTypeError(f"{text} is not a number between 0 and 1, such as .95")


def run(arguments: Namespace, out: Callable[[str], object], error: Callable[[str], object]) -> int:
    """Run the command with these options and return the exit code; `out` and `error` write a line."""
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
            on_progress=lambda done, total, name: error(f"[{done + 1}/{total}] {name}"),
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
    on_progress: Progress = lambda done, total, name: None,
    processes: int = 2,
) -> list[Outcome]:
    """Run analyses and write their results.

    Args:
        on_progress: called before each analysis; if it raises an exception, everything stops and nothing is written.
        processes: with 2, forks share the work if the dataset is large enough; the files are the same.

    Raises:
        DataError: with one sentence for the user; nothing was written.
    """
    from analysis import output
    from analysis.data import load
    from analysis.processes import fork_is_possible, in_two
    from analysis.readers import names_of
    from analysis.registry import select_analyses
    from analysis.report import stamp
    from analysis.running import run_analysis

    options = options or Options()
    analyses = select_analyses(only, system)
    output.check_target(to, replace=replace)
    data = load(*datasets, allow_modified=allow_modified)
    data.precompute()
    names_of(data)
    warning = stamp(data)
    forked = processes > 1 and data.size >= MIN_MATCHES_FOR_FORK and fork_is_possible()

    with output.folder(to, replace=replace) as directory:

        def run_one(index: int) -> tuple[Outcome, dict[str, str]]:
            result = run_analysis(analyses[index], data, options)
            return result, output.write_files(result, warning, directory)

        def indices() -> Iterator[int]:
            # From the last on: models fitted for published systems take longest, and nothing should wait for them.
            for begun, index in enumerate(reversed(range(len(analyses)))):
                on_progress(begun, len(analyses), analyses[index].id)
                yield index

        pairs = in_two(run_one, indices()) if forked else [run_one(index) for index in indices()]
        pairs.reverse()
        output.write_report(data, pairs, options, directory)
    return [result for result, _drawings in pairs]
