#!/usr/bin/env python3
"""budgets.py <folder>: prints the time of builds, and of tests by label, compared with budgets.json.

Fails if a label exceeds its budget. Builds have no budget: their time depends on the machine and on a compiler cache.

Runs as the last test of the folder from which ctest runs all tests (run.sh makes it). It reads the log of that run, and
builds.json there, and writes times.json beside it. Times are processor-seconds like in ctest's summary: a test that takes two
processors counts twice."""
import collections
import json
import pathlib
import re
import sys

BUDGETS = pathlib.Path(__file__).resolve().parent / "budgets.json"
_TEST = re.compile(r"^\d+/\d+ Test: (.+)$")
_PROPERTIES = re.compile(r'^set_tests_properties\((?:\[=\[(.+?)\]=\]|"?([^"\s]+)"?) PROPERTIES +(.*)\)$', re.MULTILINE)
_LABELS = re.compile(r'\bLABELS "?([^"\s]+)"?')
_PROCESSORS = re.compile(r'\bPROCESSORS "?(\d+)"?')
_SUBFOLDER = re.compile(r'^subdirs\((?:\[=\[(.+?)\]=\]|"(.+?)")\)$', re.MULTILINE)
_TIME = re.compile(r"^Test time = +([0-9.]+) sec$")


def seconds_of_tests(log):
    """Seconds by name. Each repetition of a test counts."""
    seconds, name = collections.Counter(), None
    for line in log.splitlines():
        if match := _TEST.match(line):
            name = match[1]
        elif (match := _TIME.match(line)) and name is not None:
            seconds[name] += float(match[1])
            name = None
    return seconds


def listed_tests(folder):
    """Labels and processors by name, of each test that ctest finds in this folder and below."""
    tests, path = {}, folder / "CTestTestfile.cmake"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""  # folders without tests have no such file
    for match in _PROPERTIES.finditer(text):
        labels, processors = _LABELS.search(match[3]), _PROCESSORS.search(match[3])
        tests[match[1] or match[2]] = (labels[1].split(";") if labels else ["none"], int(processors[1]) if processors else 1)
    for match in _SUBFOLDER.finditer(text):
        tests |= listed_tests(folder / (match[1] or match[2]))
    return tests


def seconds_of_labels(seconds, tests):
    labels = collections.Counter()
    for name, taken in seconds.items():
        of_test, processors = tests.get(name, (["none"], 1))
        for label in of_test:
            labels[label] += taken * processors
    return labels


def exceeded(measured, budgets):
    """Names of labels that exceeded their budget, or have none."""
    return sorted(name for name, seconds in measured.items() if seconds > budgets.get(name, 0) + 1)


def table(measured, budgets):
    rows = [f"{'label':<24}{'seconds':>9}{'budget':>9}"]
    rows += [f"{name:<24}{measured[name]:>9.0f}{budgets.get(name, 0):>9.0f}" for name in sorted(measured)]
    return "\n".join(rows)


def main():
    folder = pathlib.Path(sys.argv[1])
    logs = folder / "Testing/Temporary"
    log = next(path for path in (logs / "LastTest.log.tmp", logs / "LastTest.log") if path.is_file())
    seconds = seconds_of_tests(log.read_text(encoding="utf-8", errors="replace"))
    measured = {"builds": json.loads((folder / "builds.json").read_text(encoding="utf-8")),
                "labels": dict(seconds_of_labels(seconds, listed_tests(folder)))}
    (folder / "times.json").write_text(json.dumps(measured, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    budgets = json.loads(BUDGETS.read_text(encoding="utf-8"))
    print("\n".join(f"build {name:<18}{taken:>9.0f}" for name, taken in sorted(measured["builds"].items())), "\n")
    print(table(measured["labels"], budgets))
    if over := exceeded(measured["labels"], budgets):
        sys.exit(f"over budget: {', '.join(over)}. Make it faster, or say in the commit why {BUDGETS.name} changes.")


if __name__ == "__main__":
    main()
