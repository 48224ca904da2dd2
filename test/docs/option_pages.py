"""option_pages.py <sources> <lapse-options> [--write]: the tables of the pages of options are what the program has."""
import json
import os
import pathlib
import re
import subprocess
import sys

PAGES = {"lapse": "options.md", "adapm": "adaptive-management-options.md"}
HEAD = """| Option | Environment variable | Default | Unit | Values | Meaning |
|---|---|---|---|---|---|
"""
TABLE = re.compile(r"^\|.*\n(?:\|.*\n)*", re.MULTILINE)


def table(options, prefix):
    """The table of the options with this prefix."""
    rows = [(o["name"].removeprefix(prefix + "."), *(o[column] for column in ("environment_variable", "default", "unit", "values", "meaning")))
            for o in options if o["name"].startswith(prefix + ".")]
    return HEAD + "".join("| `{}` | `{}` | {} | {} | {} | {} |\n".format(*row) for row in rows)


def main():
    root, program = pathlib.Path(sys.argv[1]), sys.argv[2]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LAPSE_", "ADAPM_"))}
    run = subprocess.run([program, "--json"], env=environment, stdout=subprocess.PIPE, check=True)
    options = json.loads(run.stdout)["options"]
    for prefix, name in PAGES.items():
        page = root / "docs" / name
        text = page.read_text()
        written, tables = TABLE.subn(lambda _, prefix=prefix: table(options, prefix), text)
        if tables != 1:
            sys.exit(f"{page} has {tables} tables, expected one")
        if "--write" in sys.argv:
            page.write_text(written)
        elif written != text:
            sys.exit(f"{page} is not what {program} says: {sys.argv[0]} {root} {program} --write writes its table")
    print(f"{len(options)} options")


main()
