#!/usr/bin/env python3
"""plot.py CSV SVG: draws each column of a table over its first, one diagram below the other."""
import csv
import pathlib
import sys

from svg import COLOURS, number, picture, text

WIDTH, HEIGHT = 800, 180
LEFT, RIGHT, TOP, BOTTOM = 90, 20, 30, 35


def diagram(x_name, x_values, y_name, y_values, top):
    """One curve with its frame; `top` is the upper edge of its part of the picture."""
    last_x = max(x_values) or 1
    last_y = max(y_values) or 1
    inner_width = WIDTH - LEFT - RIGHT
    inner_height = HEIGHT - TOP - BOTTOM
    base = top + TOP + inner_height
    points = " ".join(f"{LEFT + x / last_x * inner_width:.1f},{base - y / last_y * inner_height:.1f}"
                      for x, y in zip(x_values, y_values))
    yield text(LEFT, top + TOP - 10, y_name, "start")
    yield f'<rect x="{LEFT}" y="{top + TOP}" width="{inner_width}" height="{inner_height}" fill="none" stroke="#999"/>'
    yield f'<polyline points="{points}" fill="none" stroke="{COLOURS[0]}" stroke-width="1.5"/>'
    for share in (0, 0.5, 1):
        yield text(LEFT - 6, base - share * inner_height + 4, number(share * last_y), "end")
        yield text(LEFT + share * inner_width, base + 15, number(share * last_x), "middle")
    yield text(LEFT + inner_width / 2, base + 30, x_name, "middle")


def draw(rows):
    names, values = rows[0], [[float(cell) for cell in row] for row in rows[1:]]
    columns = list(zip(*values))
    for place, (name, column) in enumerate(zip(names[1:], columns[1:])):
        yield from diagram(names[0], columns[0], name, column, place * HEIGHT)


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    if len(rows) < 2:
        print(f"{sys.argv[1]}: no rows, nothing drawn", file=sys.stderr)
        return 0
    svg = picture(WIDTH, HEIGHT * (len(rows[0]) - 1), draw(rows))
    pathlib.Path(sys.argv[2]).write_text(svg, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
