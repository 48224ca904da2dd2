"""region_traces.py <folder> <ranks>: fails unless the folder has a trace of each rank, in which the regions of each
thread are nested, and the regions that every phase has."""

import collections
import json
import pathlib
import sys

folder, ranks = pathlib.Path(sys.argv[1]), int(sys.argv[2])
traces = [json.loads(path.read_text()) for path in folder.glob("rank-*.json")]
if sorted({trace[0]["pid"] for trace in traces}) != list(range(ranks)):
    sys.exit(f"traces of the ranks {[trace[0]['pid'] for trace in traces]}, expected 0 to {ranks - 1}")
for trace in traces:
    names, open_regions, last = set(), collections.defaultdict(list), 0
    for event in trace[1:]:
        if event["ts"] < last:
            sys.exit(f"an event before the one in front of it: {event}")
        last = event["ts"]
        names.add(event["name"])
        if event["ph"] == "B":
            open_regions[event["tid"]].append(event["name"])
        elif not open_regions[event["tid"]] or open_regions[event["tid"]].pop() != event["name"]:
            sys.exit(f"the end of a region that is not the innermost one: {event}")
    if any(open_regions.values()):
        sys.exit(f"regions without an end: {dict(open_regions)}")
    missing = {"lapse create_table", "lapse run_workers", "lapse worker", "lapse wait", "lapse close"} - names
    if missing:
        sys.exit(f"rank {trace[0]['pid']}: no regions {missing}; there are {names}")
