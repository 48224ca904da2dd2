"""Results about the costs of a training and the management of keys in it, with the names that other applications use."""
import math


def _ratio(part, whole):
    return part / whole if whole else 0.0


def add_costs(summary, cost, epochs):
    """Averages over the epochs: time, local accesses, relocations, messages, bytes. cost: the PhaseCost of all epochs."""
    epochs = max(1, epochs)
    per_epoch = cost.seconds / epochs
    summary.add("seconds_per_epoch", per_epoch, "time per epoch", f"{per_epoch:.5f} s")
    local = cost.access("local_pulls", "local_pushes")
    every = local + cost.access("queued_accesses", "remote_pulls", "remote_pushes")
    share = local / every if every else 1.0
    summary.add("local_share", share, "local accesses", f"{100 * share:.2f} %")
    relocations = _ratio(cost.access("relocations_in"), cost.seconds)
    summary.add("relocations_per_second", relocations, "relocations", f"{relocations:.0f} /s")
    for name, counter in (("messages", "messages_sent"), ("bytes", "bytes_sent")):
        value = cost.traffic.get(counter, 0) / epochs
        summary.add(f"{name}_per_epoch", value, name, f"{value:.0f} per epoch")


def add_management(summary, technique, cost, statistics, epochs):
    """The technique, where keys were accessed, the number and age of replicas, how early or late intents were acted on.

    cost: the PhaseCost of all epochs. statistics: of the manager; only its intents and the number of ranks are used.
    """
    epochs = max(1, epochs)
    in_memory = cost.access("local_pulls", "local_pushes")
    in_copies = cost.access("copy_pulls", "copy_pushes")
    remote = cost.access("remote_pulls", "remote_pushes")
    queued = cost.access("queued_accesses")
    every = in_memory + queued + remote
    summary.add("technique", technique, "technique")
    for name, part, whole, label in (
            ("main_share", in_memory - in_copies, every, "accesses of main copies"),
            ("copy_share", in_copies, every, "accesses of other copies"),
            ("queued_share", queued, every, "accesses after the key's arrival"),
            ("remote_share", remote, every, "remote accesses"),
            ("remote_operation_share", cost.access("remote_operations"), cost.access("operations"), "remote calls")):
        share = _ratio(part, whole)
        summary.add(name, share, f"  {label}", f"{100 * share:.3f} %")
    cause = _main_cause(statistics["intents"]["remote"])
    summary.add("remote_cause", cause, "  most frequent cause", cause)
    ranks = statistics["server"]["ranks"]
    for name, count, label in (("relocations_per_epoch", cost.access("relocations_in"), "relocations"),
                               ("copies_per_epoch", cost.access("copies_in"), "copies set up"),
                               ("bytes_per_rank_and_epoch", cost.traffic.get("bytes_sent", 0) / max(1, ranks), "bytes of a rank")):
        summary.add(name, count / epochs, f"  {label}", f"{count / epochs:.0f} per epoch")
    _add_staleness(summary, cost)
    _add_timing(summary, statistics["intents"]["total"])


def _main_cause(tables):
    """The cause of most accesses of one table in other domains."""
    counts = [(count, name, table["table"]) for table in tables for name, count in table.items() if name != "table"]
    if not counts:
        return "none"
    count, name, table = max(counts, key=lambda entry: entry[0])
    return f"{name} in table {table}: {100 * count / sum(entry[0] for entry in counts):.0f} %"


def _add_staleness(summary, cost):
    samples = cost.access("read_samples")
    age = cost.access("stale_nanoseconds") * 1e-9 / samples if samples else math.nan
    versions = cost.access("stale_versions") / samples if samples else math.nan
    summary.add("stale_seconds", age, "  age of copies at reading", f"{1e3 * age:.3f} ms" if samples else "none were read")
    summary.add("stale_versions", versions, "  versions that they missed", f"{versions:.3f}" if samples else "none were read")


def _add_timing(summary, intents):
    acted = intents["actionable_intents"]
    lead = intents["mean_lead"] if acted else math.nan
    summary.add("mean_lead", lead, "  intents acted on", f"{lead:.1f} clocks ahead" if acted else "none")
    late = _ratio(intents["late_intents"], acted)
    summary.add("late_share", late, "  intents acted on too late", f"{100 * late:.3f} %")
