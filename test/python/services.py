"""Tests: memory, stops, hooks, and results of a load."""
import os
import subprocess
import sys
import threading

import lapse
import numpy
from support import KEYS, LENGTH, refused


def memory(server, table):
    named = {"length": 100, "rule": "adagrad"}
    estimated = server.estimate_memory("estimated", 5000, dtype=numpy.float64, **named)
    before = server.memory_use()
    made = server.create_table("estimated", 5000, dtype=numpy.float64, **named)
    used = server.memory_use(made)
    assert isinstance(used, lapse.MemoryUse) and estimated.values == used.values > 0 and used.buffers == 0
    assert used.total == used.words + used.ownership + used.slabs + used.copies
    assert server.memory_use().total == before.total + used.total
    assert server.memory_use(table).total < used.total
    assert server.estimate_memory(keys=100, lengths=range(1, 101)).values < server.estimate_memory(keys=100, length=100).values
    refused(lapse.ConfigurationError, "home 'hush'", server.estimate_memory, keys=5, home="hush")
    refused(lapse.UserCodeFailed, "no length", server.estimate_memory, keys=5, lengths=no_length)
    with lapse.Server(options={"lapse.log_level": "warning"}) as other:
        refused(lapse.UsageError, "another server", other.memory_use, table)


def no_length(key):
    raise LookupError("no length")


def limits(server):
    """Pushes that are refused, counted or scaled down before the update rule is applied."""
    create = server.create_table
    refused(lapse.ConfigurationError, "not_finite of table 'bad' is 'ignore': expected allow", create, "bad", 5, not_finite="ignore")
    refused(TypeError, "max_push_norm of table 'bad' is 'x': expected a number", create, "bad", 5, max_push_norm="x")
    for norm in (0, -1, float("nan"), float("inf")):
        refused(lapse.ConfigurationError, "table 'bad': max_push_norm is", create, "bad", 5, max_push_norm=norm)
    refused(lapse.ConfigurationError, "needs elements of type float", create, "bad", 5, dtype=numpy.int32, not_finite="count")
    table = create("limited", 10, dtype=numpy.float64, length=2, not_finite="refuse", max_push_norm=2.5)
    counted = create("counted", 10, not_finite="count")

    def work(worker):
        if worker.index == 0:
            rows = numpy.array([[0.25, 0], [3, numpy.inf]])
            for call in worker.push, worker.set:
                error = refused(lapse.NotFiniteUpdate, "key 4 of table 'limited' on rank 0: element 1 is inf", call, table, [3, 4], rows)
                assert isinstance(error, ValueError) and isinstance(error, lapse.UsageError)
            rows[1, 1] = -4
            worker.push(table, [3, 4], rows)
            assert (worker.pull(table, [3, 4]) == [[0.25, 0], [1.5, -2]]).all() and rows[1, 1] == -4
            worker.push(counted, 7, [numpy.nan])
            assert numpy.isnan(worker.pull(counted, 7)).all()
        worker.barrier()
    server.run_workers(1, work)
    totals = {of["name"]: of["total"] for of in server.statistics()["tables"]}
    names = "checked_rows", "not_finite_rows", "clipped_rows"
    assert [totals["limited"][name] for name in names] == [6, 2, 1]
    assert [totals["counted"][name] for name in names] == [1, 1, 0]


def stops(server):
    """The last worker requests a stop; the loops of all other workers end."""
    assert not server.stop_requested

    def work(worker):
        assert worker.local_count == 2
        worker.barrier()
        if worker.index == worker.count - 1:
            server.request_stop()
        while not server.stop_requested:
            worker.wait_all()
    server.run_workers(2, work)
    assert server.stop_requested


def loads(saved, server, table, folder):
    """Steps 4 and 5 exist. A fallback to 4 keeps 5 beside the next one."""
    assert saved.load(4, is_fallback=True).step == 4
    saved.save(6, per_worker=[b"own" + bytes([server.rank])], clocks=[7])
    loaded = saved.load(5, is_fallback=True)
    assert isinstance(loaded, lapse.LoadedCheckpoint) and (loaded.problems, loaded.only_local) == ([], False)
    step, blob = loaded
    assert (step, blob, loaded.ranks, loaded.per_worker) == (5, b"", server.ranks, [])
    loaded = saved.load(6)
    assert loaded.clocks == [7] * server.ranks and loaded.per_worker == [b"own" + bytes([i]) for i in range(server.ranks)]

    ones = numpy.ones((KEYS, LENGTH), numpy.float32)
    before = []

    def change(worker):
        before.append(worker.pull(table, range(KEYS)))
        worker.barrier()
        if worker.index == 0:
            worker.push(table, range(KEYS), ones)
    server.run_workers(1, change)
    saved.load(6, tables=[lapse.TableLoad("floats", 10, 19, state=False)])
    changed = before[0] + ones
    changed[10:20] = before[0][10:20]

    def check(worker):
        assert (worker.pull(table, range(KEYS)) == changed).all()
    server.run_workers(1, check)
    grown = server.create_table("grown", KEYS + 5, length=LENGTH)
    more = server.checkpoints(folder)
    more.add(grown, "floats")
    refused(lapse.CheckpointError, f"but {KEYS + 5} keys", more.load, 6)
    more.load(6, grow=True)

    def check_grown(worker):
        values = worker.pull(grown, range(KEYS + 5))
        assert (values[:KEYS] == before[0]).all() and (values[KEYS:] == 0).all()
    server.run_workers(1, check_grown)
    refused(lapse.UsageError, "none", saved.load, tables=[lapse.TableLoad("none")])
    refused(lapse.CheckpointError, "no/such/folder", saved.load, folder="no/such/folder")
    saved.release_memory()


def hooks(server, failing_worker):
    """A log message of a worker's thread is passed to the hook; exceptions of the hook go to sys.unraisablehook, and no call hangs."""
    refused(TypeError, "the hook log is a int: expected a function(level, rank, message), or None", lapse.set_hooks, log=5)
    refused(TypeError, "fatal", lapse.set_hooks, fatal="print")
    with lapse.trace_band("hooks"):
        lapse.trace_note("task", "services")
    refused(TypeError, "", lapse.trace_note, "task", 5)
    lines, raised, threads = [], [], set()

    def log(level, rank, message):
        lines.append((level, rank, message))
        threads.add(threading.get_ident())
        raise ArithmeticError("of the hook")
    formerly = sys.unraisablehook
    sys.unraisablehook = lambda unraisable: raised.append(str(unraisable.exc_value))
    lapse.set_hooks(log=log)
    try:
        failing_worker(server)
    finally:
        lapse.set_hooks()
        sys.unraisablehook = formerly
    assert len(lines) == (server.rank == 0) and raised == ["of the hook"] * len(lines), (lines, raised)
    if lines:
        assert lines[0][:2] == ("error", 0) and "no such thing" in lines[0][2]


def alone(program):
    """Runs a separate program on one rank."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMIX_", "PRTE_"))}
    done = subprocess.run([sys.executable, "-c", program], env=environment, timeout=60, capture_output=True, text=True)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done


def hooks_at_exit():
    """A message after the end of the interpreter, from MPI_Finalize about an open server, goes to standard error."""
    done = alone("import lapse, sys\n"
                 "lapse.set_hooks(log=lambda level, rank, message: print('hook:', message))\n"
                 "server = lapse.Server(options={'lapse.log_level': 'info'})\n"
                 "server.run_here(lambda worker: None)\n")
    assert "hook:" in done.stdout and "MPI_Finalize was called" not in done.stdout, done.stdout
    assert "MPI_Finalize was called on rank 0" in done.stderr and "hook:" not in done.stderr, done.stderr
