#!/usr/bin/env python3
"""Draws what a parameter manager did with single keys: a picture for each key, a line for each domain."""
import argparse
import json
import sys
from collections import defaultdict

LEGEND = """\
O  the domain owns the key        r  it holds a copy        *  both, within one column
-  it wants the key and has neither        .  it does not want the key"""

COPIES = ("replica", "upgrading")


def read(paths):
    """The events of all files, sorted by time."""
    events = []
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            events.extend(json.loads(line) for line in lines)
    return sorted(events, key=lambda event: event["time"])


def symbol(roles, wanted):
    owner = "owner" in roles
    copy = any(role in COPIES for role in roles)
    if owner or copy:
        return "*" if owner and copy else "O" if owner else "r"
    return "-" if wanted else "."


class Domain:
    """The states of one key in one domain, column by column."""

    def __init__(self, columns):
        self.line = []
        self.columns = columns
        self.role = "absent"
        self.wants = False
        self.roles = set()
        self.wanted = False
        self.accesses = {"main": 0, "copy": 0, "remote": 0}
        self.changes = defaultdict(int)

    def advance(self, column):
        """Ends the columns before this one."""
        while len(self.line) < min(column, self.columns):
            self.line.append(symbol(self.roles | {self.role}, self.wanted or self.wants))
            self.roles, self.wanted = set(), False

    def take(self, event):
        kind = event["event"]
        # A column shows every state that occurred in it, however short.
        self.roles.add(self.role)
        self.wanted = self.wanted or self.wants
        if kind == "start":
            self.role = event["role"]
            self.roles = {self.role}
        elif kind == "role":
            self.role = event["to"]
            self.roles.add(self.role)
            self.changes[event["change"]] += 1
        elif kind in ("want", "unwant"):
            self.wants = kind == "want"
            self.wanted = self.wanted or self.wants
        elif kind == "access":
            for place in self.accesses:
                self.accesses[place] += event[place]


def draw(events, columns, out):
    begin = min(event["time"] for event in events)
    width = max(event["time"] for event in events) - begin or 1.0
    keys = defaultdict(dict)
    # Every domain has a line, also one without events of the key.
    numbers = sorted({event["domain"] for event in events})
    for event in events:
        domains = keys[event["table"], event["key"]]
        for number in numbers:
            domains.setdefault(number, Domain(columns))
        domain = domains[event["domain"]]
        domain.advance(min(int((event["time"] - begin) / width * columns), columns - 1))
        domain.take(event)
    for (table, key), domains in sorted(keys.items()):
        print(f"\nkey {key} of table '{table}', {width:.3f} s", file=out)
        for number, domain in sorted(domains.items()):
            domain.advance(columns)
            counts = ", ".join(f"{count} {place}" for place, count in domain.accesses.items())
            print(f"  domain {number:<4} {''.join(domain.line)}  accesses: {counts}", file=out)
        for number, domain in sorted(domains.items()):
            changes = ", ".join(f"{change} {count}" for change, count in sorted(domain.changes.items()))
            print(f"  domain {number:<4} {changes or 'no change'}", file=out)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", help="the files of the ranks: <trace_file>.<rank>")
    parser.add_argument("--columns", type=int, default=72, help="width of a picture (72)")
    arguments = parser.parse_args()
    events = read(arguments.files)
    if not events:
        print("nothing was traced", file=sys.stderr)
        return 1
    print(LEGEND)
    draw(events, arguments.columns, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
