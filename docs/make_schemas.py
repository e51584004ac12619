"""Write the JSON Schemas that are part of heedful: python docs/make_schemas.py"""

from __future__ import annotations

import json

from heedful.audits.published_schemas import FOLDER, SCHEMAS
from heedful.storage import write_text


def main() -> None:
    """Write one file for each."""
    for name, schema in SCHEMAS.items():
        write_text(FOLDER / f"{name}.json", json.dumps(schema(), ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
