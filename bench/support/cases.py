"""The cases of each benchmark, which its results must contain."""


def local_sizes():
    """Local access over sizes of values and batches."""
    cases = ["local pull batch 100"]
    for operation in ("pull", "push"):
        for size in ("4 B", "100 B", "1 KB", "4 KB", "40 KB"):
            for keys in ("uniform", "Zipf"):
                for batch in (1, 10, 100, 1000, 10000):
                    if size == "40 KB" and batch == 10000:
                        continue
                    name = f"local {operation} {size} {keys} batch {batch}"
                    cases += [name, f"{name} 2 workers"] if batch in (1, 100) else [name]
    return cases


def one_sided():
    """Bulk payloads by messages and by windows, on one host and between two."""
    cases = ["first pull", "first pull computing", "first pull batch 8"]
    for where in ("", "tcp "):
        cases.append(f"{where}owner lookup")
        for way in ("message", "window", "message stream", "window stream"):
            cases += [f"{where}{way} {size}" for size in ("1 KB", "4 KB", "16 KB", "64 KB", "256 KB", "1 MB", "4 MB")]
    return cases


def large_values():
    """Values of a few kilobytes by message, on one host and between two."""
    return [f"{where} {operation} {size}{batch}" for where in ("remote", "tcp") for operation in ("pull", "push")
            for size in ("1 KB", "4 KB", "40 KB", "400 KB", "4 MB") for batch in ("", " batch 10")]


def policies():
    """Consistency policies: with static replicas and with intents, without and with a slow worker."""
    return [f"{policy}, {replicas}{slow}" for replicas in ("replicas", "adaptive") for slow in ("", ", one is slow")
            for policy in ("eventual", "cap(2)", "ssp(2)", "essp(2)", "bsp", "vap(0.2)", "vap(1)", "vap(1, strong)", "cvap(2,1)", "sequential")]


def intents():
    """The loop with intents: how far ahead, and with which technique."""
    cases = ["no intent"]
    for ahead in (0, 10, 100, 1000, 10000, 100000):
        names = [""] + (["immediate"] if ahead else [])
        names += ["localize"] if ahead in (10, 100, 1000) else []
        names += ["relocation only", "replication only", "nups"] if ahead in (100, 1000) else []
        names += ["full replication", "static partitioning"] if ahead == 100 else []
        cases += [f"ahead {ahead} {name}".rstrip() for name in names]
    between_hosts = ["no intent", "ahead 100", "ahead 1000", "ahead 1000 relocation only", "ahead 1000 replication only"]
    return [f"{keys} {case}" for keys in ("uniform", "zipf") for case in cases] + [
        f"tcp {keys} {case}" for keys in ("uniform", "zipf") for case in between_hosts]


def with_baseline(*names):
    return dict.fromkeys(names, True)


def alone(*names):
    return dict.fromkeys(names, False)


# Metrics of each case of the benchmark intent; True: with a baseline.
INTENT_METRICS = {"rate": True, "cpu": False, "local": False, "local operations": False, "bytes": False, "relocations": False,
                  "copies": False, "round": False, "staleness": False}

# Of the benchmark sampling, between two ranks.
SAMPLING_SCHEMES = ("naive", "naive distinct", "prelocalised", "pool", "local", "local distinct", "local with data")
SAMPLING_METRICS = {"latency": True, "local": False, "distance": False, "distance of all": False}

# Benchmark -> its cases; True: with a baseline. A number: the case has this many results, by several metrics
# or with several numbers of ranks, each with a baseline. A dictionary: its metrics, once each.
CASES = {
    "access": {**with_baseline(
        "local pull", "local push", "local pull 2 workers", "local push 2 workers", "local push 2 workers shared",
        "sparse pull", "sparse push", "sparse pull batch 100", *local_sizes(),
        "remote pull", "remote push", "remote pull computing", "remote push computing", "remote pull async",
        "remote push async", *(f"remote {operation} batch {batch}" for operation in ("pull", "push")
                               for batch in (10, 100, 1000, 10000)),
        "remote pull batch 100 async", "remote push batch 100 async", "neighbour pull", "neighbour push",
        *(f"{name} async / waiting" for name in ("remote pull", "remote push", "remote pull batch 100", "remote push batch 100",
                                                 "tcp pull batch 100", "tcp push batch 100")),
        "moved pull", "moved push", "moved pull no caches", "moved push no caches", "tcp pull", "tcp push",
        "tcp pull batch 64", "tcp pull batch 100", "tcp push batch 100", "tcp pull batch 1000", "tcp pull batch 100 async",
        "tcp push batch 100 async", *large_values()),
        "all ranks pull batch 4000": 3, "all ranks push batch 4000": 3},
    "c_interface": with_baseline("local pull", "local push", "local pull batch 1000"),
    "checkpoints": with_baseline("save", "load", "load from disk", "read", "save_async", "save_async first",
                                 "save_async moved", "save_async sparse"),
    "elements": with_baseline(
        *(f"elements {operation} {rows} batch {batch}" for operation in ("pull", "push") for rows in (25, 1000)
          for batch in (100, 1000, 10000)),
        *(f"elements {operation} runs of 10 batch 1000" for operation in ("pull", "push")),
        *(f"elements {operation} one key batch {batch}" for operation in ("pull", "push") for batch in (100, 10000)),
        *(f"remote elements {operation} 25 batch 1000" for operation in ("pull", "push"))),
    "factorization": with_baseline("1x1", "1x2", "1x4", "2x1", "4x1", "lease 1x1", "lease 1x2", "lease 1x4",
                                   "lease 2x1", "lease 4x1", "bpr 1x1", "bpr 2x1", "bpr 4x1"),
    "growth": alone("insertions", "bytes per key", "longest pause writing", "longest pause reading"),
    "idle": {"computing": True, "progress thread": False},
    "intent": dict.fromkeys(intents(), INTENT_METRICS),
    "knowledge_graphs": with_baseline("1x1", "1x2", "1x4", "2x1", "4x1"),
    "memory": alone("dense", "dense 25 floats", "sparse 4 floats"),
    "one_sided": with_baseline(*one_sided()),
    "phases": {**with_baseline("empty run_workers"), "sync_barrier": 3, "sync_barrier, no shared memory": 3,
               "tcp sync_barrier": True, "clock bsp": 3, "clock bsp, no shared memory": 3,
               "clock cap(1), no shared memory": 3, "clock essp(0), no shared memory": 3,
               "clock essp(1), no shared memory": 3},
    "policies": with_baseline(*policies()),
    "pipeline": {f"{where}{variant} {ahead} ahead": {"rate": True, "batches": True, "overhead": True, "computation": False}
                 for where in ("", "tcp ") for variant in ("remote", "relocation") for ahead in (1, 4, 16)},
    "relocation": {
        **with_baseline("batch 1 waiting", "batch 100 waiting", "batch 10000 waiting", "batch 1 async",
                        "batch 100 async", "batch 10000 async", "three ranks batch 1 waiting", "tcp batch 1 waiting"),
        "tcp batch 10000 async": 2, "tcp batch 10000 async 1 KB": 2,
        **alone(*(f"{ranks} ranks fighting batch {batch}" for ranks in (2, 3, 4) for batch in (1, 10))),
    },
    "replicas": {
        **with_baseline(*(f"{kind} {holders}" for kind in ("refresh", "delta")
                          for holders in ("1 holder", "2 holders", "3 holders")),
                        *(f"local {access}{batch}" for access in ("push to a copy", "push with copies", "pull of a copy")
                          for batch in ("", " batch 100"))),
        "empty sync_barrier": 3,
        **alone("memory of a copy", "memory of a wanted key", "memory of an announced key"),
    },
    "sampling": {
        **with_baseline(*(f"draw {name}" for name in ("uniform", "log-uniform", "weights", "weights distinct")),
                        *(f"{scheme} in memory" for scheme in SAMPLING_SCHEMES)),
        **dict.fromkeys(SAMPLING_SCHEMES, SAMPLING_METRICS),
    },
    "stages": {"transition, all slots": 3, "transition, from rank to rank": 2, "100 iterations, in 10 stages": 3},
    "update_rules": with_baseline(
        "adagrad push", "adagrad push batch 100", "remote adagrad push", "remote adagrad push batch 100",
        "remote adagrad push messages", "remote adagrad push batch 100 messages"),
}

# Metrics of which more is better; of the others, less is better.
MORE_IS_BETTER = {"rate", "batches", "bandwidth", "local", "local operations"}

# Metrics that may be 0.
MAY_BE_ZERO = {metric for metric, has_baseline in INTENT_METRICS.items() if not has_baseline} | {"memory", "distance", "distance of all"}
