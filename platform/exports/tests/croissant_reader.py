"""Read a dataset through its croissant.json and print as JSON what mlcroissant found.

This runs in a process of its own because the library's logging closes the streams of any importer.
Usage: croissant_reader.py FILE
"""

from __future__ import annotations

import json
import sys

import mlcroissant


def main() -> None:
    found = mlcroissant.Dataset(jsonld=sys.argv[1])
    described = found.metadata
    summary = {
        "errors": sorted(described.ctx.issues.errors),
        "warnings": sorted(described.ctx.issues.warnings),
        "is_v1_1": described.ctx.is_v1_1(),
        "said": described.to_json(),
        "limitations": described.data_limitations,
        "records": {
            records.uuid: {
                "rows": sum(1 for _row in found.records(record_set=records.uuid)),
                "fields": [field.name for field in records.fields],
            }
            for records in described.record_sets
        },
        "files": {file.id: file.sha256 for file in described.file_objects},
    }
    print(json.dumps(summary, default=str))


if __name__ == "__main__":
    main()
