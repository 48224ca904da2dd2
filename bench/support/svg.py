"""Diagrams as SVG pictures."""
import math
from xml.sax.saxutils import escape

COLOURS = ("#2f81f7", "#d2691e", "#2da44e", "#a371f7", "#e5534b", "#8b949e")  # Of middle brightness.
FONT = 'font-family="sans-serif" font-size="12"'
# A picture has its own background, and follows the reader's choice of light or dark.
STYLE = """<style>
.ground { fill: #fff } text { fill: #222 } .grid { stroke: #ccc } .axis { stroke: #333 }
@media (prefers-color-scheme: dark) {
.ground { fill: #0d1117 } text { fill: #ddd } .grid { stroke: #3d444d } .axis { stroke: #bbb }
}
</style>"""


def number(value):
    """Three significant digits, with separated thousands."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def text(x, y, words, anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def line(x1, y1, x2, y2, kind="grid"):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def curve(points, colour, dashes=""):
    """A line through the points, with a dot at each."""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"{dashes}/>'
    yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in points)


def picture(width, height, elements):
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" {FONT}>', STYLE,
                      f'<rect width="{width}" height="{height}" class="ground"/>', *elements, "</svg>"]) + "\n"


class LogScale:
    """Places positive numbers between two ends of an axis; marks are powers of ten."""

    def __init__(self, values, begin, end, marks=(1,)):
        low, high = min([*values, *marks]), max([*values, *marks])
        self.low, self.high = math.floor(math.log10(low)), math.ceil(math.log10(high))
        if self.low == self.high:
            self.high += 1
        self.begin, self.end = begin, end

    def place(self, value):
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)

    def marks(self):
        return [10.0**exponent for exponent in range(self.low, self.high + 1)]


def ratio_bars(bars, words):
    """One bar for each (name, ratio), from 1 to the left (faster) or right (slower); logarithmic."""
    row, top, left, width = 18, 40, 330, 860
    height = top + row * len(bars) + 30
    scale = LogScale([ratio for _, ratio in bars], left, width - 70)

    def elements():
        yield text(10, 16, words)
        for mark in scale.marks():
            yield line(scale.place(mark), top - 6, scale.place(mark), height - 24)
            yield text(scale.place(mark), height - 8, number(mark), "middle")
        for place, (name, ratio) in enumerate(bars):
            y = top + place * row
            begin, end = sorted((scale.place(1), scale.place(ratio)))
            colour = COLOURS[2] if ratio <= 1 else COLOURS[0]
            yield text(left - 8, y + 11, name, "end")
            yield f'<rect x="{begin:.1f}" y="{y}" width="{max(1, end - begin):.1f}" height="{row - 5}" fill="{colour}"/>'
            yield text(end + 4, y + 11, f"{ratio:.2f}")
        yield line(scale.place(1), top - 6, scale.place(1), height - 24, "axis")

    return picture(width, height, elements())


def curves(series, names, words, unit):
    """A curve for each name in `series`: {name: values, one for each of `names`, None: not there}; logarithmic."""
    left, top, width, height = 70, 40, 860, 320
    right, bottom = width - 230, height - 40
    values = [value for row in series.values() for value in row if value is not None]
    scale = LogScale(values, bottom, top, marks=())
    step = (right - left) / max(1, len(names) - 1)

    def elements():
        yield text(10, 16, f"{words} ({unit})")
        for mark in scale.marks():
            yield line(left, scale.place(mark), right, scale.place(mark))
            yield text(left - 6, scale.place(mark) + 4, number(mark), "end")
        for place, name in enumerate(names):
            yield text(left + place * step, bottom + 18, name, "middle")
        for place, (name, row) in enumerate(series.items()):
            colour = COLOURS[place // 2 % len(COLOURS)]
            dashes = ' stroke-dasharray="5 4"' if place % 2 else ""
            points = [(left + i * step, scale.place(value)) for i, value in enumerate(row) if value is not None]
            yield from curve(points, colour, dashes)
            y = top + 18 * place
            yield f'<line x1="{right + 20}" y1="{y}" x2="{right + 45}" y2="{y}" stroke="{colour}" stroke-width="1.5"{dashes}/>'
            yield text(right + 52, y + 4, name)

    return picture(width, height, elements())


def grouped_bars(groups, words, unit):
    """{group: [(name, value)]}: bars from 0, groups side by side."""
    left, top, width, height = 70, 60, 860, 320
    base = height - 40
    names = list(dict.fromkeys(name for bars in groups.values() for name, _ in bars))
    highest = max(value for bars in groups.values() for _, value in bars)
    group_width = (width - left - 20) / len(groups)
    bar_width = group_width / (len(names) + 1)

    def elements():
        yield text(10, 16, f"{words} ({unit})")
        for place, name in enumerate(names):
            x = left + place * 200
            yield f'<rect x="{x}" y="26" width="12" height="12" fill="{COLOURS[place]}"/>'
            yield text(x + 18, 37, name)
        for share in (0, 0.5, 1):
            y = base - share * (base - top)
            yield line(left, y, width - 20, y)
            yield text(left - 6, y + 4, number(share * highest), "end")
        for place, (group, bars) in enumerate(groups.items()):
            x = left + place * group_width
            yield text(x + group_width / 2, base + 18, group, "middle")
            for name, value in bars:
                bar = value / highest * (base - top)
                at = x + (names.index(name) + 0.5) * bar_width
                yield (f'<rect x="{at:.1f}" y="{base - bar:.1f}" width="{bar_width - 3:.1f}" height="{bar:.1f}" '
                       f'fill="{COLOURS[names.index(name)]}"/>')

    return picture(width, height, elements())
