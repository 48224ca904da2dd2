#!/usr/bin/env python3
"""gather.py FOLDER: makes FOLDER/table.md and a picture of the summaries (--summary-json) of several runs in FOLDER.

For files nodes-N.json of scaling.sh: seconds of an epoch by the number of nodes, the speedup over the smallest number,
and FOLDER/curve.svg. For other names, such as those of techniques: a row and a bar for each, FOLDER/bars.svg.
A run without a summary has failed: nodes-N.out without nodes-N.json becomes a row that says so.

Exit status: 0; 1 if no run has left a summary; 2 for wrong usage."""
import json
import pathlib
import re
import statistics
import sys

SCALED = re.compile(r"nodes-(\d+)")
WIDTH, HEIGHT, MARGIN = 520, 320, 60


def read(path):
    """The figures of a summary; raises ValueError if it is invalid."""
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
        seconds = [epoch["seconds"] for epoch in summary["history"]]
        return {"name": path.stem, "workers": summary["workers"], "seconds": statistics.median(seconds),
                "best": min(seconds), "bytes": summary["bytes_per_epoch"], "local": summary["local_share"]}
    except (KeyError, TypeError, statistics.StatisticsError) as fault:
        raise ValueError(f"{path}: no summary of an application with at least one epoch ({fault!r})") from fault
    except json.JSONDecodeError as fault:
        raise ValueError(f"{path}: no JSON ({fault})") from fault


def runs_of(folder):
    """Rows sorted by name; a failed run has only its name."""
    rows = [read(path) for path in sorted(folder.glob("*.json"))]
    known = {row["name"] for row in rows}
    rows += [{"name": path.stem} for path in sorted(folder.glob("nodes-*.out")) if path.stem not in known]
    return rows


def nodes(row):
    found = SCALED.fullmatch(row["name"])
    return int(found.group(1)) if found else None


def table(rows, scaled):
    first = "Nodes" if scaled else "Run"
    yield f"| {first} | Workers | Epoch | Shortest | Speedup | Bytes of an epoch, all ranks | Local keys |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    base = next((row["seconds"] for row in rows if "seconds" in row), None)
    for row in rows:
        name = nodes(row) if scaled else f"`{row['name']}`"
        if "seconds" not in row:
            yield f"| {name} | failed: see {row['name']}.out | | | | | |"
            continue
        yield (f"| {name} | {row['workers']} | {row['seconds']:.4g} s | {row['best']:.4g} s | {base / row['seconds']:.2f} | "
               f"{row['bytes'] / 1e6:,.3f} MB | {100 * row['local']:.2f} % |")


def svg(elements, height):
    style = "<style>text{font:12px sans-serif} .axis{stroke:#888} .ideal{stroke:#bbb;stroke-dasharray:4}</style>"
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">'
            f'<rect width="100%" height="100%" fill="white"/>{style}{"".join(elements)}</svg>\n')


def label(x, y, words, anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'


def curve(rows):
    """Speedup by the number of nodes, with the ideal line."""
    base = rows[0]
    points = [(nodes(row) / nodes(base), base["seconds"] / row["seconds"], row) for row in rows]
    most = max([x for x, _, _ in points] + [y for _, y, _ in points])

    def place(x, y):
        return MARGIN + (WIDTH - 2 * MARGIN) * x / most, HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * y / most

    left, bottom = place(0, 0)
    right, top = place(most, most)
    yield f'<path class="axis" fill="none" d="M{left} {top}V{bottom}H{right}"/>'
    yield f'<path class="ideal" d="M{left} {bottom}L{right} {top}"/>'
    yield label(left, top - 12, "speedup")
    yield label(right, bottom + 34, "nodes", "end")
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(x, y) for x, y, _ in points))
    yield f'<polyline points="{path}" fill="none" stroke="#0b62a4" stroke-width="2"/>'
    for x, y, row in points:
        column, line = place(x, y)
        yield f'<circle cx="{column:.1f}" cy="{line:.1f}" r="3" fill="#0b62a4"/>'
        yield label(column, line - 8, f"{y:.2f}", "middle")
        yield label(column, bottom + 16, nodes(row), "middle")


def bars(rows):
    longest = max(row["seconds"] for row in rows)
    for number, row in enumerate(rows):
        y = 20 + 24 * number
        width = 250 * row["seconds"] / longest
        yield label(170, y + 12, row["name"], "end")
        yield f'<rect x="178" y="{y}" width="{width:.1f}" height="16" fill="#0b62a4"/>'
        yield label(184 + width, y + 12, f"{row['seconds']:.4g} s")


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[1])
    try:
        rows = runs_of(folder)
    except (ValueError, OSError) as fault:
        print(f"gather.py: {fault}", file=sys.stderr)
        return 1
    scaled = bool(rows) and all(nodes(row) is not None for row in rows)
    if scaled:
        rows.sort(key=nodes)
    done = [row for row in rows if "seconds" in row]
    if not done:
        print(f"gather.py: {folder} has no summaries (*.json)", file=sys.stderr)
        return 1
    text = "\n".join(table(rows, scaled)) + "\n"
    (folder / "table.md").write_text(text, encoding="utf-8")
    name, picture = ("curve.svg", svg(curve(done), HEIGHT)) if scaled else ("bars.svg", svg(bars(done), 30 + 24 * len(done)))
    (folder / name).write_text(picture, encoding="utf-8")
    print(text, end="")
    print(f"picture: {folder / name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
