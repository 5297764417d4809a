"""Read a dataset through its croissant.json and print as JSON what mlcroissant found.

This runs in a process of its own because the library's logging closes the streams of any importer.
Usage: croissant_reader.py FILE
"""

from __future__ import annotations

import json
import sys

import mlcroissant


def main() -> None:
    dataset = mlcroissant.Dataset(jsonld=sys.argv[1])
    metadata = dataset.metadata
    summary = {
        "errors": sorted(metadata.ctx.issues.errors),
        "warnings": sorted(metadata.ctx.issues.warnings),
        "is_v1_1": metadata.ctx.is_v1_1(),
        "document": metadata.to_json(),
        "limitations": metadata.data_limitations,
        "records": {
            records.uuid: {
                "rows": sum(1 for _row in dataset.records(record_set=records.uuid)),
                "fields": [field.name for field in records.fields],
            }
            for records in metadata.record_sets
        },
        "files": {file.id: file.sha256 for file in metadata.file_objects},
    }
    print(json.dumps(summary, default=str))


if __name__ == "__main__":
    main()
