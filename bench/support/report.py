#!/usr/bin/env python3
"""report.py PAGE FILE...: a page in Markdown about the results in these files, with pictures beside it (PAGE's folder).

A file is what bench/run.sh writes, NAME.json; one that is not there is left out."""
import pathlib
import re
import sys

from cases import MORE_IS_BETTER
from results import load, number
from svg import curves, grouped_bars, ratio_bars

SIZES = ("4 B", "100 B", "1 KB", "4 KB", "40 KB")
BATCHES = ("1", "10", "100", "1000", "10000")
# The cases of access over sizes of values and batches, which have separate pictures.
LOCAL = re.compile(r"local (pull|push) (\d+ K?B) (uniform|Zipf) batch (\d+)( 2 workers)?$")


def time_ratio(result):
    """The server's time divided by the plain program's."""
    return 1 / result["ratio"] if result["metric"] in MORE_IS_BETTER else result["ratio"]


def table(results):
    """Rows of a table in Markdown."""
    yield "| Case | Metric | Value | Quartiles | Unit | Ranks | Workers | Domain | Baseline | Its value | Value / baseline |"
    yield "|---|---|--:|--:|---|--:|--:|---|---|--:|--:|"
    for result in results:
        quartiles = f"{number(result['lower_quartile'])} - {number(result['upper_quartile'])}"
        baseline = [""] * 3
        if "twin" in result:
            baseline = [result["twin_name"], number(result["twin"]), f"{result['ratio']:.2f}"]
        cells = [result["case"], result["metric"], number(result["value"]), quartiles, result["unit"], result["ranks"],
                 result["workers"], result["domain"], *baseline]
        yield "| " + " | ".join(str(cell) for cell in cells) + " |"


def ratio_picture(name, results):
    ranks = {}
    for result in results:
        ranks.setdefault(result["case"], set()).add(result["ranks"])
    bars = [(result["case"] + (", overhead" if result["metric"] == "overhead" else "")
             + (f", {result['ranks']} ranks" if len(ranks[result["case"]]) > 1 else ""), time_ratio(result))
            for result in results
            if "twin" in result and result["metric"] not in ("messages", "batches") and not LOCAL.match(result["case"])]
    if bars:
        yield f"{name}-ratios", ratio_bars(bars, f"{name}: time of the server / time of the plain program; below 1 is faster")


def local_pictures(results):
    """Local access over value size and over batch, solid: the server, dashed: the plain program."""
    found = {match.groups(): result for result in results if (match := LOCAL.match(result["case"]))}
    for operation in ("pull", "push"):
        for keys in ("uniform", "Zipf"):
            series = {}
            for size in SIZES:
                row = [found.get((operation, size, keys, batch, None)) for batch in BATCHES]
                if any(row):
                    series[size] = [result and result["value"] for result in row]
                    series[f"{size}, plain"] = [result and result.get("twin") for result in row]
            series = {name: row for name, row in series.items() if any(row)}
            if series:
                yield (f"local-{operation}-{keys}".lower(),
                       curves(series, BATCHES, f"local {operation}, {keys} keys, over keys in a call", "ns per key"))


def epoch_picture(name, results):
    """Seconds per epoch over ranks x workers; rankings of items are another data set."""
    groups = {}
    for result in results:
        if result["metric"] != "epoch" or result["case"].startswith("bpr "):
            continue
        group = result["case"].removeprefix("lease ")
        bars = groups.setdefault(group, [])
        bars.append(("leases" if result["case"].startswith("lease ") else "server", result["value"]))
        if "twin" in result and result["twin_name"] not in dict(bars):
            bars.append((result["twin_name"], result["twin"]))
    for bars in groups.values():
        bars.sort(key=lambda bar: (bar[0] != "server", bar[0] != "leases"))
    if groups:
        yield f"{name}-epochs", grouped_bars(groups, f"{name}: an epoch, ranks x workers", "s")


def pictures(name, results):
    yield from ratio_picture(name, results)
    yield from local_pictures(results)
    yield from epoch_picture(name, results)


def page(paths, folder):
    yield "# Benchmarks"
    yield ""
    yield "Figures are medians. The baseline is what one would write without a server, run in turn with the case on the"
    yield "same machine: compare ratios rather than figures. What each case does stands in the first comment of `bench/NAME.cpp`."
    for path in map(pathlib.Path, paths):
        if not path.exists():
            continue
        results = load(path)
        yield f"\n## {path.stem}\n"
        for name, svg in pictures(path.stem, results):
            (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
            yield f"![{name}]({name}.svg)\n"
        growth = path.with_suffix(".svg")
        if growth.exists():
            (folder / growth.name).write_text(growth.read_text(encoding="utf-8"), encoding="utf-8")
            yield f"![{path.stem}]({growth.name})\n"
        yield from table(results)


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    target = pathlib.Path(sys.argv[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join(page(sys.argv[2:], target.parent)) + "\n", encoding="utf-8")
    print(f"report: {target}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
