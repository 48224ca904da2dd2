#!/usr/bin/env python3
"""The result files of benchmarks: lists of objects, one for each case.

results.py merge OUT IN...                 writes the results of several runs of a program into one file
results.py check [--each-case [--without PREFIX]] FILE...
                                           exit status 1 and a line for each fault; --each-case: also for missing cases,
                                           unless their names begin with PREFIX
results.py table FILE...                   prints the results"""
import json
import numbers
import pathlib
import re
import sys

from cases import CASES, MAY_BE_ZERO

FIELDS = {
    "case": str,
    "metric": str,
    "value": numbers.Real,
    "unit": str,
    "ranks": int,
    "workers": int,
    "domain": str,
    "runs": int,
    "lower_quartile": numbers.Real,
    "upper_quartile": numbers.Real,
    "best": numbers.Real,
}
BASELINE_FIELDS = {"twin_name": str, "twin": numbers.Real, "ratio": numbers.Real}


def load(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def field_faults(result):
    """Describes what is wrong with one result."""
    has_baseline = any(name in result for name in BASELINE_FIELDS)
    expected = {**FIELDS, **(BASELINE_FIELDS if has_baseline else {})}
    for name, kind in expected.items():
        if name not in result:
            yield f"has no field '{name}'"
        elif not isinstance(result[name], kind) or isinstance(result[name], bool):
            yield f"'{name}' is {result[name]!r}, expected {kind.__name__}"
        elif isinstance(result[name], numbers.Real) and name != "workers":
            if not (result[name] > 0 or (result[name] == 0 and result.get("metric") in MAY_BE_ZERO)):
                yield f"'{name}' is {result[name]!r}, expected a positive number"
    for name in result:
        if name not in expected:
            yield f"has an unknown field '{name}'"
    if not re.fullmatch(r"rank|host|[1-9][0-9]*", str(result.get("domain"))):
        yield f"'domain' is {result.get('domain')!r}, expected 'rank', 'host' or a number of ranks"


def faults(path, each_case, without):
    try:
        results = load(path)
    except (OSError, ValueError) as error:
        yield str(error)
        return
    if not isinstance(results, list) or not all(isinstance(result, dict) for result in results):
        yield "is no list of objects"
        return
    for number, result in enumerate(results):
        for fault in field_faults(result):
            yield f"result {number} ({result.get('case')}): {fault}"
    if not each_case:
        return
    name = pathlib.Path(path).stem
    expected = CASES[name]
    found = [result.get("case") for result in results]
    for case, has_baseline in expected.items():
        if without and case.startswith(without) and case not in found:
            continue
        if isinstance(has_baseline, dict):
            metrics = {result.get("metric"): "twin" in result for result in results if result.get("case") == case}
            if metrics != has_baseline or found.count(case) != len(metrics):
                yield f"case '{case}' has the metrics (true: with a baseline) {metrics}, expected {has_baseline}"
            continue
        times = max(1, has_baseline)
        if not 1 <= found.count(case) <= times:
            yield f"case '{case}' is there {found.count(case)} times, expected 1 to {times}"
        elif has_baseline and not all("twin" in result for result in results if result.get("case") == case):
            yield f"case '{case}' has no baseline"
    for case in found:
        if case not in expected:
            yield f"unknown case '{case}'"


def merge(out, *paths):
    results = [result for path in paths for result in load(path)]
    lines = ",\n  ".join(json.dumps(result) for result in results)
    pathlib.Path(out).write_text(f"[\n  {lines}\n]\n", encoding="utf-8")
    return 0


def check(*arguments):
    each_case = arguments[:1] == ("--each-case",)
    paths = arguments[1:] if each_case else arguments
    without = None
    if paths[:1] == ("--without",):
        without, paths = paths[1], paths[2:]
    count = 0
    for path in paths:
        for fault in faults(path, each_case, without):
            print(f"{path}: {fault}", file=sys.stderr)
            count += 1
    return 1 if count else 0


def number(value):
    """Four significant digits, with separated thousands."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def table(*paths):
    head = ("case", "metric", "value", "quartiles", "best", "unit", "ranks", "workers", "baseline", "its value", "ratio")
    rows = [head]
    for path in paths:
        name = pathlib.Path(path).stem
        for result in load(path):
            quartiles = f"{number(result['lower_quartile'])} - {number(result['upper_quartile'])}"
            baseline = ("",) * 3
            if "twin" in result:
                baseline = (result["twin_name"], number(result["twin"]), f"{result['ratio']:.2f}")
            rows.append((f"{name}: {result['case']}", result["metric"], number(result["value"]), quartiles, number(result["best"]), result["unit"],
                         str(result["ranks"]), str(result["workers"]), *baseline))
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    right = {2, 3, 4, 6, 7, 9, 10}
    for row in rows:
        cells = [cell.rjust(width) if column in right else cell.ljust(width)
                 for column, (cell, width) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())
    return 0


def main():
    commands = {"merge": merge, "check": check, "table": table}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        print(__doc__, file=sys.stderr)
        return 2
    return commands[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
