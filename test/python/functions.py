"""Tests: functions of the application, leases, and tensors of torch."""
import lapse
import numpy
from support import KEYS, LENGTH, refused


def functions(server):
    """Python functions that the library calls: at the owner of a key, for initial values, as update rule."""
    def initial(key):
        if key == 13:
            raise ArithmeticError("no value for 13")
        return numpy.array([key, -1.0])
    rows = server.create_table("computed", dtype=numpy.float64, length=2, sparse=True, initial=initial)
    add = server.register_function("add", add_to, numpy.float64, argument=numpy.float32, result="i8")
    pair = numpy.dtype([("first", "f4"), ("second", "i4")])
    swap = server.register_function("swap", lambda key, value, given: (given["second"], int(given["first"])),
                                    numpy.float64, argument=pair, result=pair)
    for kind in (object, "S", numpy.dtype([("object", "O")])):  # bytes that other ranks cannot interpret
        refused(lapse.ConfigurationError, "without objects", server.register_function, "bad", add_to, numpy.float64, result=kind)
    whole = server.create_table("whole", dtype=numpy.int64, sparse=True, initial=lambda key: {1: 0.5, 2: None, 4: True, 6: [2**53 + 1]}.get(key, key))
    half = server.register_function("half", lambda key, value, given: given / 2 if key else None, numpy.int64, argument="i4", result="i4")
    same = server.register_function("same", lambda key, value, given: given == 2**63 + 1, numpy.int64, argument="u8", result="?")
    resize = server.register_function("resize", lambda key, value: value.resize(100, refcheck=False), numpy.int64)
    for wrong in (1.5, 2**53 + 1, numpy.int64(2**53 + 1)):
        refused(lapse.ConfigurationError, str(wrong), server.create_table, "bad", KEYS, dtype=numpy.int64, initial=wrong)
    clear = server.register_function("clear", lambda key, value: value.fill(0), numpy.float64)

    def largest(value, state, update, scale):
        state += 1
        numpy.maximum(value, scale * update, out=value)
    rule = lapse.Rule("largest", largest, state=1, initialise=lambda value, state: state.fill(10), merge="none")
    ruled = server.create_table("ruled", KEYS, length=3, rule=rule)
    refused(lapse.ConfigurationError, "a lapse.Rule", server.create_table, "bad", KEYS, rule=largest)

    def work(worker):
        mine = 100 * (worker.index + 1)
        assert (worker.pull(rows, [mine, mine + 1]) == [[mine, -1], [mine + 1, -1]]).all()
        assert (worker.call(rows, add, [mine, 5000], [0.5, 1]) >= [mine + 0, 5001]).all()
        worker.barrier()
        assert worker.pull(rows, 5000)[0][0] == 5000 + worker.count
        swapped = worker.call_async(rows, swap, [5000], numpy.array([(2.5, 7)], pair)).wait()
        assert swapped.dtype == pair and swapped[0].tolist() == (7.0, 2)
        assert worker.call(rows, clear, numpy.array([mine])) is None and (worker.pull(rows, mine) == 0).all()
        worker.push(ruled, 3, [worker.index, 0, 9])
        worker.sync_barrier()
        assert worker.pull(ruled, 3)[0].tolist() == [worker.count - 1, 0, 9]
        refused(lapse.UserCodeFailed, "no value for 13", worker.pull, rows, 13)
        refused(lapse.UserCodeFailed, "cannot be 7", worker.call, rows, add, 7, [1])
        refused(TypeError, "has an argument", worker.call, rows, add, [1])
        refused(TypeError, "has no arguments", worker.call, rows, clear, [1], [1])
        refused(ValueError, "arguments: 1.5 is outside of int32", worker.call, whole, half, [5], [1.5])
        refused(ValueError, "is outside of int32", worker.call, whole, half, [5], [2**40])
        refused(lapse.UserCodeFailed, "result of a function: 1.5 is outside of int32", worker.call, whole, half, [5], [3])
        refused(lapse.UserCodeFailed, "result of a function of object", worker.call, whole, half, [0], [3])
        assert worker.call(whole, half, [5], [4.0])[0] == 2
        refused(lapse.UserCodeFailed, "resized", worker.call, whole, resize, [5])
        refused(lapse.UserCodeFailed, "initial value: 0.5 is outside of int64", worker.pull, whole, 1)
        refused(lapse.UserCodeFailed, "initial value of object", worker.pull, whole, 2)
        assert worker.call(whole, same, [5, 7], [1, 2**63 + 1]).tolist() == [False, True]
        refused(ValueError, "1.5 is outside of uint64", worker.call, whole, same, [5, 7], [1.5, 2**63 + 1])
        refused(ValueError, "-1 is outside of uint64", worker.call, whole, same, [5, 7, 9], [1.0, 2**63 + 1, -1])
        assert worker.pull(whole, [4, 6]).ravel().tolist() == [1, 2**53 + 1]
        refused(ValueError, "second: 7.5 is outside of int32", worker.call, rows, swap, [5000], [(2.5, 7.5)])
        refused(TypeError, "the fields first, second", worker.call, rows, swap, [5000], numpy.zeros(1, pair)[["second", "first"]])
        assert worker.call(rows, swap, [5000], [(2.5, 7)])[0].tolist() == (7.0, 2)
        refused(lapse.LengthMismatch, "arguments", worker.call, rows, add, [1, 2], [1])
        refused(lapse.UsageError, "of float64, the table has float32", worker.call, ruled, clear, [1])
        worker.barrier()
        in_place(worker, ruled, 20 + worker.index)
        worker.barrier()
        leased(worker, rows, ruled)
        worker.barrier()
        keys, values = worker.local_values(ruled)
        assert values.shape == (len(keys), 3) and (server.ranks > 1 or len(keys) == KEYS)
        assert worker.all_reduce(numpy.array([len(set(keys.tolist()))]))[0] >= KEYS
        assert (values[keys == 3] == [worker.count - 1, 0, 9]).all()
    server.run_workers(2, work)


def add_to(key, value, argument):
    assert isinstance(argument, numpy.float32)
    if key == 7:
        raise ValueError("the key cannot be 7")
    value += argument
    return int(value[0])


def in_place(worker, table, key):
    """An update in memory, by the only worker that uses the key."""
    worker.localize(table, key)
    while worker.locality(table, key) == "not_local":
        worker.localize(table, key)
    if worker.locality(table, key) != "local":
        return
    kept = []

    def double(value):
        value += 2
        kept.append(value)
    assert worker.update_if_local(table, key, double)
    kept[0] += 100  # an array of its own
    assert (worker.pull(table, key) == 2).all()

    def fail(value):
        value += 1
        raise LookupError("in place")
    refused(LookupError, "in place", worker.update_if_local, table, key, fail)
    assert (worker.pull(table, key) == 2).all()


def leased(worker, rows, ruled):
    """All workers add to the values of two tables, one after the other."""
    keys = numpy.array([40, 41], numpy.uint64)
    with worker.lease((rows, keys), (ruled, [45])) as lease:
        values, other = lease.values(rows), lease.values(ruled)
        assert values.shape == (2, 2) and other.shape == (1, 3)
        assert lease.states(rows).shape == (2, 0) and lease.states(ruled).shape == (1, 1)
        values += 1
        other[0, 0] += 1
        lease.apply(ruled, [0, 0, 8])
        assert other[0, 2] == 8
        refused(lapse.UsageError, "", worker.barrier)
        refused(lapse.LengthMismatch, "updates", lease.apply, ruled, [1])
    refused(lapse.UsageError, "not held", lease.values, rows)
    worker.barrier()
    assert (worker.pull(rows, keys) == [[40 + worker.count, -1 + worker.count], [41 + worker.count, -1 + worker.count]]).all()
    with worker.lease(ruled, 45) as lease:
        assert lease.values(ruled).tolist() == [[worker.count, 0, 8]] and lease.states(ruled)[0, 0] == 10 + worker.count

    def leave(lease):
        with lease:
            lease.values(ruled)[0, 1] = 99
            raise LookupError("within")
    refused(LookupError, "within", leave, worker.lease(ruled, 45))
    assert worker.pull(ruled, 45)[0, 1] == 0
    refused(lapse.UsageError, "twice", worker.lease, ruled, [1, 2, 1])
    refused(TypeError, "", worker.lease, 5, [1])


def tensors(server, table):
    """Tensors of torch as values and keys, without a copy."""
    try:
        import torch
    except ImportError:
        if server.rank == 0:
            print("SKIPPED: tensors, as there is no python3-torch")
        return

    def work(worker):
        rows = torch.full((4, LENGTH), 3.0)
        keys = torch.tensor([2, 11, 12, 44])
        worker.barrier()
        worker.set(table, keys, rows)
        worker.sync_barrier()
        into = torch.zeros((4, LENGTH))
        address = into.data_ptr()
        worker.pull(table, keys, out=into)
        assert into.data_ptr() == address and bool((into == 3).all())
        refused(TypeError, "float64: expected float32", worker.push, table, keys, rows.double())
        refused(ValueError, "gaps", worker.pull, table, keys, out=torch.zeros((LENGTH, 4)).t())
        worker.barrier()
    server.run_workers(1, work)
