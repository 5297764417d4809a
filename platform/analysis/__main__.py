"""`python -m analysis DATASET… --to DIR`: tables, figures and a report from exported datasets."""

from __future__ import annotations

import sys
from argparse import ArgumentParser


def main() -> int:
    """Read the options, run the analyses and return the exit code."""
    from analysis.command import add_arguments, run

    parser = ArgumentParser(prog="python -m analysis", description=__doc__)
    add_arguments(parser)
    return run(parser.parse_args(), print, lambda line: print(line, file=sys.stderr))


if __name__ == "__main__":
    sys.exit(main())
