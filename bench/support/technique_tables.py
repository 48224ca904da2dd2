"""Markdown tables of measurements by bench/techniques.py."""
from svg import number
from technique_pictures import amount, duration

GIGABIT_BYTES = 1e9 / 8


def markdown(head, rows):
    """The first column to the left, all others to the right."""
    yield "| " + " | ".join(head) + " |"
    yield "|---|" + "--:|" * (len(head) - 1)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def percent(share):
    return f"{100 * share:.3g} %"


def score(quality):
    return ", ".join(f"{name} {value:.4f}" for name, value in quality.items())


def fault_cells(name, row, columns):
    """The row of a run without figures: only the reason."""
    return [name, row["fault"].replace("|", "/"), *[""] * (columns - 2)]


def by_task(rows):
    groups = {}
    for row in rows:
        groups.setdefault(row["task"], []).append(row)
    return groups


def title(task, rows):
    first = next((row for row in rows if "seconds" in row), rows[0])
    where = f"{first['ranks']} ranks" + (f" on hosts with {first['hosts']}" if first["hosts"] else "")
    return f"{task}: {where}, a domain is a {first['domain']}, {first.get('workers', '?')} workers"


COMPARISON = ("Technique", "Epoch", "Shortest", "Ratio to the best", "Sent, rank and epoch", "Age of copies read",
              "Versions missed", "Remote keys", "Remote calls", "Why remote", "Regret", "Quality")


def comparison_row(row):
    name = f"`{row['technique']}`"
    if "seconds" not in row:
        return fault_cells(name, row, len(COMPARISON))
    unread = not row["stale_seconds"]  # No read of a replica was sampled.
    return [name, duration(row["seconds"]), duration(row["best_seconds"]), f"{row['ratio']:.2f}", amount(row["bytes"]),
            "–" if unread else duration(row["stale_seconds"]), "–" if unread else f"{row['stale_versions']:.3g}",
            percent(row["remote_share"]), percent(row["remote_operation_share"]), row.get("remote_cause", "none"),
            f"{row['regret']:.2f}" if "regret" in row else "–",
            score(row["quality"]) + (f" ({row['runs']} runs, then: {row['fault']})" if row["fault"] else "")]


def comparison(results):
    for task, rows in by_task(results["rows"]).items():
        yield f"\n{title(task, rows)}\n"
        yield from markdown(COMPARISON, [comparison_row(row) for row in rows])


LEAD = ("Batches ahead", "Technique", "Epoch", "Shortest", "Sent, rank and epoch", "Remote keys", "Acted on ahead",
        "Quality")


def lead_row(row):
    ahead = f"{row['lead']:,}"
    if "seconds" not in row:
        return fault_cells(ahead, {"fault": f"`{row['technique']}`: {row['fault']}"}, len(LEAD))
    return [ahead, f"`{row['technique']}`", duration(row["seconds"]), duration(row["best_seconds"]), amount(row["bytes"]),
            percent(row["remote_share"]), f"{number(row['mean_lead'] or 0)} clocks", score(row["quality"])]


def leads(results):
    for task, rows in by_task(results["rows"]).items():
        clocks = next((row["clocks"] for row in rows if row.get("clocks")), None)
        batches = f"; an epoch has {clocks:,.0f} batches for each worker" if clocks else ""
        yield f"\n{title(task, rows)}{batches}\n"
        yield from markdown(LEAD, [lead_row(row) for row in rows])


COUNTS = ("Ranks", "Sent, rank and epoch", "Sent, all ranks", "Messages, rank and epoch", "Messages, all ranks",
          "Bytes of a message", "Remote keys")


def counts_row(row):
    if "seconds" not in row:
        return fault_cells(str(row["ranks"]), row, len(COUNTS))
    ranks = row["ranks"]
    size = number(row["bytes"] / row["messages"]) if row["messages"] else "–"
    return [str(ranks), amount(row["bytes"]), amount(ranks * row["bytes"]), number(row["messages"]),
            number(ranks * row["messages"]), size, percent(row["remote_share"])]


def prediction(row, one_rank, microseconds, gigabits, workers):
    """Seconds of an epoch with a host for each rank of `row` and this many workers each: compute, bytes, messages."""
    compute = one_rank["seconds"] * one_rank["workers"] / (row["ranks"] * workers)
    transfer = row["bytes"] / (gigabits * GIGABIT_BYTES)
    return compute, transfer, row["messages"] * microseconds * 1e-6


PREDICTION = ("Task, hosts x workers", "Compute", "Bytes", "Messages", "One after the other", "All at once",
              "Speedup of one worker")


def prediction_rows(results, gigabits=100, workers=(1, 16)):
    """For the largest measured number of ranks, for each task and technique with a run on one rank."""
    for task, rows in by_task([row for row in results["rows"] if "seconds" in row]).items():
        for technique in dict.fromkeys(row["technique"] for row in rows):
            own = sorted((row for row in rows if row["technique"] == technique), key=lambda row: row["ranks"])
            one, most = own[0], own[-1]
            if one["ranks"] != 1 or most is one:
                continue
            for count in workers:
                parts = prediction(most, one, results["microseconds_a_message"], gigabits, count)
                whole, longest = sum(parts), max(parts)
                base = one["seconds"] * one["workers"]
                yield [f"{task}, {most['ranks']} x {count}", *(duration(part) for part in (*parts, whole, longest)),
                       f"{base / whole:.1f} to {base / longest:.1f}"]


def counts(results):
    for task, rows in by_task(results["rows"]).items():
        yield f"\n{task}, `{rows[0]['technique']}`, a domain is a {rows[0]['domain']}\n"
        yield from markdown(COUNTS, [counts_row(row) for row in rows])
    if results.get("microseconds_a_message"):
        yield f"\nA message between two hosts is taken to need {results['microseconds_a_message']:.3g} us.\n"
        yield from markdown(PREDICTION, prediction_rows(results))


TABLES = {"techniques": comparison, "hosts": comparison, "lead": leads, "ranks": counts}
