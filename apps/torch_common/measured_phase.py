"""Costs of a phase of training."""
import time

# Of docs/reference: the other counters of a table are maxima, or amounts at one time.
_NOT_SUMS = frozenset({"copies_here", "keys_here", "bytes_here", "bytes_of_memory"})


class PhaseCost:
    """seconds: from a barrier of all workers until the last one is done. accesses: counters of all ranks, summed over the tables.
    traffic: counters of the ranks."""

    def __init__(self, seconds=0.0, accesses=None, traffic=None):
        self.seconds, self.accesses, self.traffic = seconds, dict(accesses or {}), dict(traffic or {})

    def __iadd__(self, other):
        self.seconds += other.seconds
        for own, of_other in ((self.accesses, other.accesses), (self.traffic, other.traffic)):
            for name, count in of_other.items():
                own[name] = own.get(name, 0) + count
        return self

    def state(self):
        """For a checkpoint: the arguments that make an equal object."""
        return {"seconds": self.seconds, "accesses": self.accesses, "traffic": self.traffic}

    def access(self, *names):
        """The sum of these counters."""
        return sum(self.accesses.get(name, 0) for name in names)


def _counters(statistics):
    accesses = {}
    for table in statistics["server"]["tables"]:
        for name, count in table["total"].items():
            if isinstance(count, int) and not name.endswith("_max") and name not in _NOT_SUMS:
                accesses[name] = accesses.get(name, 0) + count
    return accesses, statistics["server"]["total"]


def _difference(later, earlier):
    return {name: count - earlier.get(name, 0) for name, count in later.items()}


def run_measured(ctx, world, workers, name, function):
    """Collective. With `name` in traces of allocation, runs function(worker) on this many workers of this rank, after a barrier of all. Returns the PhaseCost."""
    before = _counters(ctx.manager.statistics())
    seconds = []

    def measured(worker):
        worker.barrier()
        begin = time.monotonic()
        function(worker)
        # Without a further barrier: workers may have advanced their clocks differently often.
        seconds.append(time.monotonic() - begin)
    import lapse  # Not needed by programs in plain PyTorch, which also use PhaseCost.
    with lapse.trace_band(name):
        ctx.run(workers, measured)
    longest = max(world.allgather(max(seconds, default=0.0)))
    after = _counters(ctx.manager.statistics())
    return PhaseCost(longest, _difference(after[0], before[0]), _difference(after[1], before[1]))
