"""Runs an application under a technique, and takes the compared figures from its summary."""
import json
import os
import pathlib
import shlex
import signal
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLUSTER = ROOT / "test/cluster/netns_cluster.sh"
CANNOT_RUN = 77  # Exit status of the cluster if no hosts can be made.

# Field of a summary -> field of a row.
FIELDS = {
    "bytes_per_rank_and_epoch": "bytes",
    "stale_seconds": "stale_seconds",
    "stale_versions": "stale_versions",
    "remote_share": "remote_share",
    "remote_operation_share": "remote_operation_share",
    "relocations_per_epoch": "relocations",
    "copies_per_epoch": "copies",
    "mean_lead": "mean_lead",
    "late_share": "late_share",
}


class Failed(Exception):
    """The reason why a run has no figures."""


class Machine:
    """Where the programs run: ranks of this host, or virtual hosts on it."""

    def __init__(self, programs, launcher, ranks, hosts, domain, seconds):
        self.programs = pathlib.Path(programs)
        self.launcher = shlex.split(launcher)
        self.ranks, self.hosts, self.domain, self.seconds = ranks, hosts, domain, seconds

    def command(self, program, arguments):
        cluster = [str(CLUSTER), "--hosts", self.hosts] if self.hosts else []
        return [*cluster, *self.launcher, str(self.ranks), str(self.programs / program), *arguments]

    def run(self, program, arguments, variables=None):
        """Raises Failed. Stopping the process also stops its ranks."""
        environment = {**os.environ, "LAPSE_DOMAIN": self.domain, "OMPI_ALLOW_RUN_AS_ROOT": "1",
                       "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **(variables or {})}
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
            process = subprocess.Popen(self.command(program, arguments), env=environment, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True)
            try:
                status = process.wait(self.seconds)
            except BaseException as reason:
                stop(process)
                if isinstance(reason, subprocess.TimeoutExpired):
                    raise Failed(f"not finished after {self.seconds:g} s") from None
                raise
            errors.seek(0)
            if status != 0:
                raise Failed(reason_of(status, errors.read()))


def stop(process):
    """Asks the launcher to end its ranks, then kills the rest of its process group."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def reason_of(status, errors):
    """One line: the program's message, else the launcher's."""
    lines = [line.strip() for line in errors.splitlines() if line.strip().strip("-*")
             and not line.startswith("mpirun: Forwarding signal")]
    said = [line for line in lines if line.startswith(("error:", "SKIPPED"))] or lines[:1]
    return f"exit status {status}" + (f": {said[0]}" if said else "")


def figures_of(summary, quality):
    """The figures of a run. Raises Failed if the training has diverged."""
    scores = quality(summary)
    seconds = [epoch["seconds"] for epoch in summary["history"]]
    lost = [name for name, value in scores.items() if value is None]
    if lost or any(epoch.get("loss", 0) is None or epoch.get("train_rmse", 0) is None for epoch in summary["history"]):
        raise Failed(f"diverged: {', '.join(lost) or 'the loss'} is not a number")
    figures = {row: summary[name] for name, row in FIELDS.items() if name in summary}
    ranks, workers = summary["statistics"]["server"]["ranks"], summary["workers"]
    clocks = summary["statistics"]["intents"]["total"]["clocks"] / (workers * len(seconds))
    return {**figures, "remote_cause": summary.get("remote_cause", "none"), "messages": summary["messages_per_epoch"] / ranks, "clocks": clocks, "seconds": seconds,
            "quality": scores, "workers": workers}


def choices_of(technique):
    """A technique may have a policy of consistency behind a plus sign."""
    technique, _, policy = technique.partition("+")
    return ["--technique", technique, *(["--consistency", policy] if policy else [])]


TRACE_BYTES = 1 << 30  # of a rank


def optimum(machine, task, technique, options=None):
    """Bytes for the keys of a traced run of one epoch, in parts of the least that would have done: what ran, and had no key
    moved. Raises Failed."""
    with tempfile.TemporaryDirectory() as folder:
        trace = str(pathlib.Path(folder) / "trace")
        machine.run(task.program, [*task.arguments({**(options or {}), "--epochs": 1}), *choices_of(technique), "--seed", "1",
                                   "--summary-json", str(pathlib.Path(folder) / "summary.json")],
                    {"LAPSE_ALLOCATION_TRACE": trace, "LAPSE_ALLOCATION_TRACE_EVENTS": "accesses",
                     "LAPSE_ALLOCATION_TRACE_BYTES": str(TRACE_BYTES)})
        result = subprocess.run([str(machine.programs / "lapse-viewer"), "optimum", trace, "--json"], capture_output=True,
                                text=True, check=False)
        if result.returncode != 0:
            raise Failed(reason_of(result.returncode, result.stderr))
        found = json.loads(result.stdout)
        if found["dropped_seconds"] is not None or found["incomplete_ranks"]:
            raise Failed("the trace is not complete")
        return regret_of(found["tables"])


def regret_of(tables):
    """Over all tables."""
    least = sum(table["least"]["cost"] for table in tables)
    if least == 0:
        return {}
    return {"regret": sum(table["ran"]["cost"] for table in tables) / least,
            "regret_unmoved": sum(table["nothing_moved"]["cost"] for table in tables) / least}


def train(machine, task, technique, seed, options=None):
    """Raises Failed."""
    choices = choices_of(technique)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "summary.json"
        machine.run(task.program, [*task.arguments(options or {}), *choices, "--seed", str(seed), "--summary-json", str(path)])
        try:
            summary = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise Failed("ended without a summary") from None
    return figures_of(summary, task.quality)


def median_or_none(values):
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def combined(runs):
    """Of several runs: seconds over all epochs, medians of the other figures."""
    seconds = sorted(second for run in runs for second in run["seconds"])
    row = {"runs": len(runs), "seconds": statistics.median(seconds), "best_seconds": seconds[0],
           "worst_seconds": seconds[-1], "workers": runs[0]["workers"]}
    for name in (*FIELDS.values(), "messages", "clocks"):
        row[name] = median_or_none([run.get(name) for run in runs])
    row["remote_cause"] = statistics.mode(run["remote_cause"].rpartition(":")[0] or run["remote_cause"] for run in runs)
    row["quality"] = {name: median_or_none([run["quality"].get(name) for run in runs]) for name in runs[0]["quality"]}
    return row


def row_of(place, runs, fault):
    """`place`: what was run; `fault`: why a run has no figures, None."""
    row = {**place, "fault": fault}
    return {**row, **combined(runs)} if runs else row


def add_ratios(rows):
    """Adds the time of each row relative to the shortest of its task with the same number of ranks."""
    shortest = {}
    for row in rows:
        if "seconds" in row:
            group = (row["task"], row["ranks"])
            shortest[group] = min(row["seconds"], shortest.get(group, row["seconds"]))
    for row in rows:
        if "seconds" in row:
            row["ratio"] = row["seconds"] / shortest[row["task"], row["ranks"]]
