"""Tests of the Python package, under mpirun on any number of ranks. The argument is a folder for checkpoints."""
import gc
import pathlib
import sys
import threading
import traceback
import warnings

try:
    import mpi4py
    import numpy
    mpi4py.rc.thread_level = "serialized"
    import lapse
    lapse.prepare_mpi()
    from mpi4py import MPI
    import reference
    from arguments import conversions, one_error_each, refused_arguments, server_arguments, texts
    from announcing import announcing
    from by_key import lengths_and_homes
    from elements import elements
    from forking import children
    from functions import functions, tensors
    from jobs import dropped_attachments, intervals, regions, signals
    from services import alone, hooks, hooks_at_exit, limits, loads, memory, stops
    from support import KEYS, LENGTH, refused
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

OPTIONS = {"lapse.log_level": "warning", "lapse.stall_report": 30}


class Exported:
    """Like another library's tensor: DLPack only."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__(stream=stream)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def access(server, tables, workers):
    def work(worker):
        keys = numpy.array([0, 7, 30, 49], numpy.uint64)
        for table in tables:
            ones = numpy.ones((4, table.length), table.dtype)
            worker.push(table, keys, ones)
            worker.push_async(table, keys, ones).wait()
            worker.sync_barrier()
            expected = 2 * worker.count
            pulled = worker.pull(table, keys)
            assert pulled.dtype == table.dtype and pulled.shape == (4, table.length), pulled.shape
            assert (pulled == expected).all(), (table.name, pulled)
            out = numpy.zeros(4 * table.length, table.dtype)
            assert worker.pull(table, [0, 7, 30, 49], out=out) is out and (out == expected).all()
            operation = worker.pull_async(table, keys.astype(numpy.int64))
            assert (operation.wait() == expected).all() and operation.done
            worker.barrier()
        floats = tables[0]
        array = numpy.full((4, LENGTH), 2, numpy.float32)
        worker.push(floats, keys, Exported(array))
        worker.push(floats, keys, (-2 * array).tolist(), scale=1.0)
        worker.wait_all()
        worker.sync_barrier()
        if worker.index == 0:
            worker.set(floats, 20, [5.0] * LENGTH)
        worker.sync_barrier()
        assert (worker.pull(floats, 20) == 5).all()
        worker.localize_async(floats, keys).wait()
        for _ in range(1000):
            worker.localize(floats, 20)
            value = worker.pull_if_local(floats, 20)
            if value is not None:
                break
        assert value is None or (value == 5).all()
        assert worker.all_reduce(numpy.ones(2))[1] == worker.count
        assert worker.all_reduce(numpy.array([worker.index]), "max")[0] == worker.count - 1
        for number, total in (3, 3 * worker.count), (0.5, worker.count / 2), (numpy.float32(2), 2.0 * worker.count), (True, worker.count):
            reduced = worker.all_reduce(number)
            assert reduced == total and type(reduced) is type(total), (number, reduced)
        assert worker.all_reduce(worker.index, "min") == 0
        assert worker.broadcast(numpy.array([worker.index, 9]), root=1 % worker.count)[0] == 1 % worker.count

        # Impossible arguments.
        refused(TypeError, "objects", worker.broadcast, numpy.array([{}, "x"], dtype=object))
        leave = worker.lease(floats, 20).__exit__
        refused(lapse.UsageError, "not held", leave, None, None, None)
        refused(lapse.KeyOutOfRange, "key 50 of table", worker.pull, floats, 50)
        assert isinstance(refused(KeyError, "50", worker.pull, floats, 50), lapse.UsageError)
        refused(lapse.LengthMismatch, "floats", worker.pull, floats, keys, out=numpy.zeros(1, numpy.float32))
        refused(TypeError, "float64: expected float32", worker.push, floats, keys, numpy.ones((4, LENGTH)))
        refused(TypeError, "keys of float64", worker.pull, floats, numpy.ones(2))
        conversions(worker, tables, keys)
        refused(ValueError, "gaps", worker.pull, floats, numpy.arange(8)[::2])
        refused(ValueError, "gaps", worker.push, floats, keys, numpy.ones((LENGTH, 4), numpy.float32).T)
        constant = numpy.zeros((4, LENGTH), numpy.float32)
        constant.flags.writeable = False
        refused(ValueError, "read-only", worker.pull, floats, keys, out=constant)
        refused(ValueError, "2 dimensions", worker.pull, floats, keys.reshape(2, 2))
        kept.append(worker)

    kept = []
    server.run_workers(workers, work)
    refused(lapse.UsageError, "has ended", kept[0].barrier)


def dropped_operations(server, table):
    """An operation that the garbage collector ends in another thread, and one without a handle."""
    def work(worker):
        class Cycle:
            pass
        cycle = Cycle()
        cycle.itself = cycle
        cycle.operation = worker.pull_async(table, numpy.arange(KEYS))
        worker.pull_async(table, numpy.arange(KEYS))
        del cycle
        collector = threading.Thread(target=gc.collect)
        collector.start()
        collector.join()
        worker.barrier()
    server.run_workers(1, work)


def lock_is_released(server):
    """A waiting worker lets other Python threads run: the workers of a rank meet in Python only."""
    met = threading.Barrier(2)

    def work(worker):
        if worker.local_index == 0:
            met.wait(20)
        worker.barrier()  # worker 1 waits here until worker 0 has met the other thread
    other = threading.Thread(target=met.wait, args=(20,))
    other.start()
    server.run_workers(2, work)
    other.join()
    assert not met.broken


def attachment_fails(server):
    """The exception of an attached worker is named on every rank, and is the cause on its own rank, with its traceback."""
    def leave(place):
        with server.start_progress(1):
            if server.rank == place:
                with server.attach():
                    raise LookupError("in an attached worker")
    failure = refused(lapse.PeerFailed, "LookupError: in an attached worker (", leave, 0)
    if server.rank == 0:
        assert "in leave)" in str(failure) and isinstance(failure.__cause__, LookupError), repr(failure.__cause__)
        assert "in leave" in "".join(traceback.format_exception(failure.__cause__))


def attached(server, table):
    with server.start_progress(2):
        def loader():
            with server.attach() as worker:
                worker.push(table, 3, numpy.ones(LENGTH, numpy.float32))
                worker.barrier()
        thread = threading.Thread(target=loader)
        thread.start()
        refused(lapse.UsageError, "not attached", server.attach().__exit__, None, None, None)
        with server.attach(1) as worker:
            worker.pull(table, 3)
            worker.barrier()
        thread.join()
    server.run_here(lambda worker: worker.barrier())


def own_calls(server):
    """A reduction of mpi4py while a worker runs."""
    def work(worker):
        total = numpy.zeros(1)
        with server.mpi_calls():
            refused(lapse.UsageError, "wait for itself", lapse.Server)
            request = MPI.COMM_WORLD.Iallreduce(numpy.ones(1), total)
        done = False
        while not done:
            with server.mpi_calls():
                done = request.Test()
        assert total[0] == server.ranks
        worker.barrier()
    server.run_workers(1, work)
    refused(lapse.UsageError, "already", lambda section: [section.__enter__(), section.__enter__()], server.mpi_calls())


def checkpoints(server, table, folder):
    saved = server.checkpoints(folder, keep=2)
    saved.add(table)
    saved.save(4, b"state")
    saved.save_async(5)
    saved.finish()
    assert saved.done and saved.staged and saved.load() == (5, b"") and saved.load(4) == (4, b"state")
    loads(saved, server, table, folder)
    refused(lapse.CheckpointError, "99", saved.load, 99)


def managed(manager, table):
    samplers = [manager.create_sampler(table), manager.create_sampler(table, "log_uniform", 0, 20, scheme="naive"),
                manager.create_sampler(table, "weighted", 20, weights=[0, 1, 0, 2], scheme="pool")]

    refused(lapse.ConfigurationError, "'uniform' with weights", manager.create_sampler, table, "uniform", weights=[1])
    refused(lapse.ConfigurationError, "without weights", manager.create_sampler, table, "weighted")
    refused(lapse.ConfigurationError, "50 with 2 weights", manager.create_sampler, table, count=50, weights=[1, 2])
    samplers.append(manager.create_sampler(table, first=3, weights=[0, 1]))

    def work(worker):
        begin = worker.clock
        for clock in range(begin, begin + 20):
            worker.intent(table, numpy.array([clock % KEYS]), clock, clock + 2)
            worker.intent(table, range(10, 15), clock, clock + 1)
            sample = worker.prepare_sample(samplers[clock % 3], 4, clock, clock + 3)
            keys, values = worker.pull_sample(sample, 2)
            assert (keys < KEYS).all() and values.shape == (2, LENGTH)
            assert clock % 3 != 2 or set(keys.tolist()) <= {21, 23}
            worker.take_keys(sample, 2)
            refused(lapse.UsageError, "", worker.take_keys, sample, 1)
            worker.advance_clock()
        assert worker.clock == begin + 20
    manager.run_workers(2, work)


def failing_worker(server):
    def work(worker):
        if worker.index == 0:
            raise LookupError("no such thing")
        refused(lapse.PeerFailed, "no such thing", worker.barrier)
    failure = refused(lapse.PeerFailed, "no such thing", server.run_workers, 2, work)
    assert isinstance(failure.__cause__, LookupError) == (server.rank == 0), failure.__cause__
    assert "test_package.py" in str(failure) and "in work)" in str(failure), str(failure)
    assert server.rank != 0 or "in work" in "".join(traceback.format_exception(failure.__cause__))


def garbage():
    """A server that was not closed warns, and no call waits."""
    server = lapse.Server(MPI.COMM_SELF, OPTIONS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del server
        gc.collect()
    assert [warning.category for warning in caught] == [ResourceWarning], caught


def low_thread_level():
    """In a separate program, on one rank."""
    program = ("import mpi4py; mpi4py.rc.thread_level = 'single'; import lapse, warnings\n"
               "with warnings.catch_warnings(record=True) as caught:\n"
               "    warnings.simplefilter('always')\n"
               "    with lapse.Server() as server: server.run_here(lambda worker: worker.barrier())\n"
               "assert 'MPI_THREAD_SINGLE' in str(caught[0].message), caught\n")
    alone(program)


def make_tables(server):
    floats = server.create_table("floats", KEYS, length=LENGTH, home="range")
    assert (floats.name, floats.keys, floats.length, floats.dtype) == ("floats", KEYS, LENGTH, numpy.float32)
    refused(ValueError, "floats", server.create_table, "floats", KEYS)
    refused(lapse.ConfigurationError, "expected float32", server.create_table, "bad", KEYS, dtype=numpy.int8)
    refused(lapse.ConfigurationError, "'epsilon'", server.create_table, "bad", KEYS, rule="sgd", epsilon=1)
    refused_arguments(server.create_table)
    return [floats, server.create_table("doubles", KEYS, dtype=numpy.float64, rule="add"),
            server.create_table("ints", KEYS, dtype=numpy.int32, length=2),
            server.create_table("longs", dtype=numpy.int64, sparse=True)]


def main():
    folder = pathlib.Path(sys.argv[1])
    refused(lapse.ConfigurationError, "stall_report", lapse.Server, MPI.COMM_WORLD, {"lapse.stall_rebort": 30})
    refused(lapse.MpiStateError, "", lapse.Server, MPI.COMM_NULL)
    with lapse.Server(MPI.COMM_WORLD, OPTIONS) as server:
        tables = make_tables(server)
        access(server, tables, 2)
        server_arguments(server, tables[0])
        texts(server, tables)
        one_error_each(server)
        dropped_operations(server, tables[0])
        lock_is_released(server)
        attached(server, tables[0])
        own_calls(server)
        dropped_attachments(server, tables[0])
        regions(server)
        functions(server)
        lengths_and_homes(server)
        elements(server)
        memory(server, tables[0])
        limits(server)
        tensors(server, tables[0])
        checkpoints(server, tables[0], folder)
        statistics = server.statistics()
        assert lapse.__version__.count(".") == 2
        assert "floats" in str(statistics) and isinstance(statistics, dict)
        stops(server)
    refused(lapse.ClosedError, "close", server.run_workers, 1, lambda worker: None)
    refused(lapse.ClosedError, "close", server.memory_use, tables[0])
    with lapse.Manager(MPI.COMM_WORLD.Dup(), OPTIONS) as manager:
        tables = make_tables(manager)
        access(manager, tables, 1)
        manager.set_frequencies(tables[0], numpy.arange(KEYS))
        refused(lapse.ConfigurationError, "49 numbers", manager.set_frequencies, tables[0], numpy.arange(KEYS - 1))
        refused(lapse.ConfigurationError, "-1 for key 0", manager.set_frequencies, tables[0], numpy.arange(KEYS) - 1)
        texts(manager, tables)
        refused(TypeError, "table is 'x': expected a lapse.Table", manager.create_sampler, "x")
        managed(manager, tables[0])
        announcing(manager, tables[0])
        dropped_attachments(manager, tables[0])
        attached(manager, tables[0])
    with lapse.Server(options=OPTIONS) as server:
        hooks(server, failing_worker)
    with lapse.Server(options=OPTIONS) as server:
        attachment_fails(server)
    children(OPTIONS, folder)
    signals(OPTIONS)
    intervals(OPTIONS)
    garbage()
    if MPI.COMM_WORLD.rank == 0:
        reference.check()
        low_thread_level()
        hooks_at_exit()


try:
    main()
except BaseException:
    traceback.print_exc()
    sys.stderr.flush()
    MPI.COMM_WORLD.Abort(1)
