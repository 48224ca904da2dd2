"""Pictures of measurements by bench/techniques.py: panels side by side, one row per task."""
import math

from svg import COLOURS, curve, line, number, picture, text

WIDTH = 860
CUT = 5  # A bar longer than this many times that of the first technique is cut off.


def duration(value):
    """Seconds with a unit that suits them."""
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if value * factor >= 1 or unit == "us":
            return f"{value * factor:.3g} {unit}"


def amount(value):
    """Bytes with a unit that suits them."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if value >= factor or unit == "KB":
            return f"{value / factor:.3g} {unit}"


MEASURES = (("seconds", "an epoch", duration), ("bytes", "sent by a rank in an epoch", amount))


def bars(rows, measure, left, width, top, row_height, form):
    """A bar for each row, from the left; longer ones than `CUT` times the first have an open end."""
    values = [row.get(measure) for row in rows]
    known = [value for value in values if value is not None]
    if not known:
        return
    first = next((value for value in values if value), 1)
    longest = min(max(known), CUT * first) or 1
    for place, value in enumerate(values):
        y = top + place * row_height
        if value is None:
            yield text(left + 4, y + 12, "no figures")
            continue
        bar = max(1.0, min(value, longest) / longest * (width - 70))
        is_cut = value > longest
        yield f'<rect x="{left}" y="{y + 1}" width="{bar:.1f}" height="{row_height - 5}" fill="{COLOURS[0 if place == 0 else 5]}"/>'
        yield text(left + bar + 4, y + 12, ("… " if is_cut else "") + form(value))


def technique_bars(groups):
    """{task: rows}: for each task the techniques, with a panel of times and one of bytes."""
    row_height, left, gap = 18, 170, 30
    panel = (WIDTH - left - gap) // 2
    height = sum(52 + row_height * len(rows) for rows in groups.values()) + 10

    def elements():
        top = 20
        for task, rows in groups.items():
            yield text(10, top, task)
            for place, (measure, words, form) in enumerate(MEASURES):
                x = left + place * (panel + gap)
                yield text(x, top, words)
                yield line(x, top + 8, x, top + 12 + row_height * len(rows), "axis")
                yield from bars(rows, measure, x, panel, top + 10, row_height, form)
            for place, row in enumerate(rows):
                yield text(left - 8, top + 22 + place * row_height, row["technique"], "end")
            top += 52 + row_height * len(rows)

    return picture(WIDTH, height, elements())


def nice_ceiling(value):
    """The smallest of 1, 2, 5, 10, ... times a power of ten that is not below the value."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(power * step for step in (1, 2, 5, 10) if power * step >= value * 0.999999)


def lead_panel(series, leads, box, form):
    """A curve for each technique over the leads (logarithmic), from 0."""
    left, top, right, bottom = box
    highest = nice_ceiling(max(value for points in series.values() for value in points.values()) or 1)
    first, last = math.log10(min(leads)), math.log10(max(leads))

    def place(lead, value):
        share = (math.log10(lead) - first) / ((last - first) or 1)
        return left + share * (right - left), bottom - value / highest * (bottom - top)

    for share in (0, 0.5, 1):
        y = bottom - share * (bottom - top)
        yield line(left, y, right, y)
        yield text(left - 6, y + 4, form(share * highest) if share else "0", "end")
    for lead in leads:
        yield text(place(lead, 0)[0], bottom + 16, number(lead), "middle")
    for colour, points in zip(COLOURS, series.values()):
        yield from curve([place(lead, value) for lead, value in sorted(points.items())], colour)


def lead_curves(groups):
    """{task: rows}: for each task times and bytes over the lead, a curve for each technique."""
    height_of_task, panel, left = 190, 330, 80
    height = 30 + height_of_task * len(groups)

    def elements():
        techniques = list(dict.fromkeys(row["technique"] for rows in groups.values() for row in rows))
        for place, (colour, name) in enumerate(zip(COLOURS, techniques)):
            yield f'<rect x="{left + 150 * place}" y="8" width="12" height="12" fill="{colour}"/>'
            yield text(left + 18 + 150 * place, 19, name)
        for number_of_task, (task, rows) in enumerate(groups.items()):
            top = 55 + number_of_task * height_of_task
            leads = sorted({row["lead"] for row in rows})
            for place, (measure, words, form) in enumerate(MEASURES):
                x = left + place * (panel + left)
                series = {name: {row["lead"]: row[measure] for row in rows
                                 if row["technique"] == name and row.get(measure) is not None} for name in techniques}
                if not any(series.values()):
                    continue
                yield text(x, top - 10, f"{task}: {words}, over batches ahead")
                yield from lead_panel(series, leads, (x, top, x + panel, top + 120), form)

    return picture(WIDTH, height, elements())
