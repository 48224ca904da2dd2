#!/usr/bin/env python3
"""Compares the techniques of the parameter manager on the applications, from the files of their option --summary-json.

techniques.py [options]                 every technique on every task
techniques.py --lead [options]          adaptive and immediate, by how many batches ahead intents are signaled
techniques.py --ranks 1,2,4,8,16 [...]  bytes and messages by the number of ranks

Tasks: ratings (MovieTweetings) and matrix (generated) with matrix_factorization, graph (WN18RR) with
knowledge_graph_embeddings, words (the World Factbook) with word_vectors, nodes (Cora) with graph_network, clicks (Adult)
with click_prediction; data and options: bench/support/tasks.py. The last two need PyTorch.
Prints a table in Markdown and writes it as JSON to the folder of --out: techniques.json, hosts.json (with --hosts),
lead.json or ranks.json. bench/support/technique_page.py makes a page with pictures of these files.

A technique may have a policy of consistency behind it, such as static_partitioning+ssp(2) or adaptive+cap(1)
(docs/consistency.md); without one, tables are eventual, or sequential where keys only move.

A run that fails, or whose training diverges, becomes a row that says so, and is not repeated. Techniques run in turn
within a repetition, so that slow phases of the machine affect all of them; seconds are the median over the epochs of
all repetitions. The repetitions have the seeds 1, 2, ...
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "support"))

from tasks import TASKS, chosen  # noqa: E402
from technique_runs import (CANNOT_RUN, CLUSTER, ROOT, Failed, Machine, add_ratios, optimum, row_of,  # noqa: E402
                            train)
from technique_tables import TABLES  # noqa: E402

TECHNIQUES = ("adaptive", "immediate", "relocation_only", "replication_only", "nups", "full_replication",
              "static_partitioning", "localize")
# Stale parameter servers, and bounds of staleness for copies of all keys and for adaptive management.
WITH_POLICIES = ("static_partitioning+ssp(1)", "replication_only+essp(1)", "full_replication+cap(1)",
                 "adaptive+cap(1)")
LEADS = (1, 10, 100, 1000, 10000)
PING_PONG = ("bench_one_sided", "tcp message stream 1 KB", 1024)  # Program, case, and bytes of a message there.


def names(text):
    """Of "a,b(1,2)": a and b(1,2)."""
    return [name for name in re.split(r",(?![^()]*\))", text) if name]


def numbers(text):
    return [int(number) for number in text.split(",")]


def assignment(text):
    name, separator, value = text.partition("=")
    if not separator or name not in TASKS:
        raise argparse.ArgumentTypeError(f"'{text}' is not TASK=..., with one of the tasks {', '.join(TASKS)}")
    return name, value


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--lead", action="store_true", help="compare leads")
    add("--leads", type=numbers, default=LEADS, help="which, in batches; default 1,10,100,1000,10000")
    add("--ranks", type=numbers, default=[4], help="ranks; several numbers: compare them. Default 4")
    add("--hosts", default="", help="ranks of each host, such as 2,2: hosts of network namespaces, in place of --ranks")
    add("--domain", default="", help="LAPSE_DOMAIN; default rank, with --hosts host")
    add("--tasks", default=",".join(TASKS), help="default all")
    add("--techniques", default="", help="default all; of leads: adaptive,immediate; of ranks: adaptive")
    add("--workers", type=int, default=1, help="of each rank; default 1")
    add("--regret", action="store_true", help="also trace an epoch of each, and say how many times the least bytes it sends for "
        "keys (docs/allocation-traces.md)")
    add("--runs", type=int, default=1, help="repetitions; default 1")
    add("--data", type=assignment, action="append", default=[], metavar="TASK=FILES",
        help="other data, files separated by commas: ratings; train,valid,test of a graph; texts; nodes,edges,split")
    add("--options", type=assignment, action="append", default=[], metavar="TASK=OPTIONS",
        help="options of the application, which replace those of tasks.py, such as 'graph=--dim 200 --epochs 20'")
    add("--message-microseconds", type=float, default=0,
        help="of ranks: what a message between two hosts takes; default: measured between hosts of network namespaces")
    add("--limit", type=float, default=120, help="seconds for one run; default 120")
    add("--programs", default="", help="the folder of the build with apps and bench; default: build/release is built")
    add("--launcher", default="mpirun --oversubscribe --bind-to none -n", help="the number of ranks follows it")
    add("--out", default=str(ROOT / "bench/results/techniques"), help="folder; default bench/results/techniques")
    add("--smoke", action="store_true", help="tiny data, 2 ranks, few techniques: only to see that everything works")
    options = parser.parse_args(arguments)
    for kind, known in (("tasks", TASKS), ("techniques", TECHNIQUES)):
        setattr(options, kind, names(getattr(options, kind)))
        unknown = [name for name in getattr(options, kind) if name.partition("+" if kind == "techniques" else ",")[0] not in known]
        if unknown:
            parser.error(f"--{kind}: there is no '{unknown[0]}', but {', '.join(known)}")
    if options.hosts and options.lead or options.lead and len(options.ranks) > 1:
        parser.error("--lead applies only with one number of --ranks, and without --hosts")
    return options


class Series:
    """What is compared: name of the file and its table, the techniques, and the place of each run."""

    def __init__(self, options):
        self.options = options
        self.name = "lead" if options.lead else "hosts" if options.hosts else (
            "ranks" if len(options.ranks) > 1 else "techniques")
        if options.smoke:
            options.ranks = options.ranks if self.name == "ranks" else [2]
            options.leads = options.leads[:2]
        default = {"lead": TECHNIQUES[:2], "ranks": TECHNIQUES[:1]}.get(self.name, TECHNIQUES + WITH_POLICIES)
        if options.smoke and self.name in ("techniques", "hosts"):
            default = (TECHNIQUES[0], TECHNIQUES[3], WITH_POLICIES[1])
        self.techniques = options.techniques or default
        self.ranks = [sum(numbers(options.hosts))] if options.hosts else options.ranks
        self.domain = options.domain or ("host" if options.hosts else "rank")
        files = dict(options.data)
        self.given = {name: option_values(words) for name, words in options.options}
        self.tasks = [self.task(name, files.get(name)) for name in options.tasks]

    def task(self, name, files):
        return chosen(name, files.split(",") if files else None, self.given.get(name), self.options.smoke)

    def machine(self, ranks):
        options = self.options
        folder = pathlib.Path(options.programs or ROOT / "build/release") / "apps"
        return Machine(folder, options.launcher, ranks, options.hosts, self.domain, options.limit)

    def places(self):
        for task in self.tasks:
            for ranks in self.ranks:
                for lead in (self.options.leads if self.name == "lead" else (None,)):
                    for technique in self.techniques:
                        yield task, {"task": task.name, "technique": technique, "lead": lead, "ranks": ranks,
                                     "hosts": self.options.hosts, "domain": self.domain}

    def application_options(self, task, place):
        extra = {"--workers": self.options.workers}
        if place["lead"] is not None:
            extra.update({**task.lead, **self.given.get(task.name, {}), "--lookahead": place["lead"]})
        return extra


def option_values(words):
    """Of "--dim 10 --flag": {"--dim": "10", "--flag": None}."""
    values, name = {}, None
    for word in shlex.split(words):
        if word.startswith("--"):
            name = word
            values[name] = None
        else:
            values[name] = word
    return values


def measure(series, report, keep=lambda rows: None):
    """Rows in the order of the places; `report` gets a line of each run, and `keep` the rows that there are then."""
    found, faults = {}, {}

    def rows():
        done = [row_of(place, found.get(number, []), faults.get(number))
                for number, (_, place) in enumerate(series.places()) if number in found or number in faults]
        add_ratios(done)
        return done

    for run in range(series.options.runs):
        for number, (task, place) in enumerate(series.places()):
            if number in faults:
                continue
            label = " ".join(str(place[key]) for key in ("task", "technique", "lead") if place[key] is not None)
            try:
                figures = train(series.machine(place["ranks"]), task, place["technique"], run + 1,
                                series.application_options(task, place))
                found.setdefault(number, []).append(figures)
                report(f"run {run + 1}, {place['ranks']} ranks, {label}: {min(figures['seconds']):.4g} s an epoch at best")
            except Failed as fault:
                faults[number] = str(fault)
                report(f"run {run + 1}, {place['ranks']} ranks, {label}: {fault}")
            keep(rows())
    if series.options.regret:
        regrets = measure_regrets(series, report, faults)
        done = rows()
        for row in done:
            row.update(regrets.get((row["task"], row["technique"], row["ranks"], row["lead"]), {}))
        keep(done)
        return done
    return rows()


def measure_regrets(series, report, faults):
    """What optimum returns, by task, technique, ranks and lead."""
    regrets = {}
    for number, (task, place) in enumerate(series.places()):
        if number in faults:
            continue
        try:
            found = optimum(series.machine(place["ranks"]), task, place["technique"], series.application_options(task, place))
            regret = f"{found['regret']:.2f}" if found else "no bytes are needed"
            report(f"{task.name} {place['technique']}: bytes for keys, in parts of the least: {regret}")
        except Failed as fault:
            found = {}
            report(f"{task.name} {place['technique']}: no regret: {fault}")
        regrets[place["task"], place["technique"], place["ranks"], place["lead"]] = found
    return regrets


def microseconds_a_message(options, report):
    """Of a message between two hosts: half of a ping-pong of plain MPI with eight messages in flight. None where it cannot
    be measured."""
    if options.message_microseconds:
        return options.message_microseconds
    program, case, size = PING_PONG
    out = pathlib.Path(options.out) / "ping-pong.json"
    folder = pathlib.Path(options.programs or ROOT / "build/release") / "bench"
    machine = Machine(folder, options.launcher, 2, "1,1", "host", options.limit)
    try:
        machine.run(program, ["--case", case, "--out", str(out), *(["--smoke"] if options.smoke else ["--runs", "5"])])
        result = json.loads(out.read_text(encoding="utf-8"))[0]
        return 1e6 * size / result["twin"] / 2
    except (Failed, OSError, ValueError, LookupError) as fault:
        report(f"no time of a message: {fault}")
        return None


def build(options):
    subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    targets = sorted({TASKS[name].program for name in options.tasks} | {PING_PONG[0], "lapse-viewer"})
    subprocess.run(["cmake", "--build", "--preset", "release", "--target", *targets], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)


def shown_command(options, arguments):
    """The command as anybody would give it: without the folders of this machine."""
    words = shlex.join(arguments)
    for name in ("out", "programs"):
        words = words.replace(shlex.join([f"--{name}", getattr(options, name)]), "")
    for _, files in options.data:
        short = ",".join("/".join(pathlib.PurePath(file).parts[-2:]) for file in files.split(","))
        words = words.replace(files, short)
    return " ".join(["bench/techniques.py", *words.split()])


def unable(options):
    """Why there can be no hosts, None."""
    if not options.hosts:
        return None
    result = subprocess.run([str(CLUSTER), "true"], capture_output=True, text=True, check=False)
    return result.stdout + result.stderr if result.returncode == CANNOT_RUN else None


def main():
    options = parse(sys.argv[1:])
    obstacle = unable(options)
    if obstacle:
        print(obstacle.strip(), file=sys.stderr)
        return CANNOT_RUN
    if not options.programs:
        build(options)
    series = Series(options)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # What runs at that moment is stopped, too.

    def report(text):
        print(f"== {text}", file=sys.stderr, flush=True)

    folder = pathlib.Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    results = {"command": shown_command(options, sys.argv[1:]), "processors": os.cpu_count(), "rows": []}

    def keep(rows):
        results["rows"] = rows
        (folder / f"{series.name}.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")

    if series.name == "ranks":
        results["microseconds_a_message"] = microseconds_a_message(options, report)
    keep(measure(series, report, keep))
    print("\n".join(TABLES[series.name](results)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
