"""Tests: impossible keys, values and specifications of tables."""
import array
import copy
import gc
import pickle
import sys

import lapse
import numpy

from support import KEYS, LENGTH, refused


class Copied:
    """Exports its memory by DLPack, but returns a copy of it to NumPy."""

    def __init__(self):
        self.values = numpy.zeros((4, LENGTH), numpy.float32)

    def __dlpack__(self, stream=None):
        return self.values.__dlpack__(stream=stream)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()

    def __array__(self, dtype=None, copy=None):
        return self.values.copy()


def conversions(worker, tables, keys):
    """Lists must have numbers of the table's type: none is rounded or truncated, and no result is written to a copy."""
    floats, _, ints, _ = tables
    rows = numpy.zeros((4, LENGTH), numpy.float32)
    refused(lapse.KeyOutOfRange, str(2**63), worker.pull, floats, [0, 2**63])
    refused(lapse.KeyOutOfRange, "500", floats.lengths, [0, 500])
    refused(TypeError, "'lapse.helping' is None", lapse.Server, options={"lapse.helping": None})
    refused(TypeError, "float64: expected numbers that int32 has", worker.push, ints, 3, [1.5, 2])
    refused(TypeError, "expected numbers that int32 has", worker.push, ints, 3, ["2", "3"])
    refused(TypeError, "expected numbers that int32 has", worker.push, ints, 3, [None, 1])
    refused(TypeError, "expected numbers that float32 has", worker.push, floats, 3, [1j, 0, 0])
    refused(TypeError, "expected numbers that int32 has", worker.push, ints, 3, [2**70, 0])
    refused(ValueError, "1099511627776 is outside of int32", worker.push, ints, 3, [2**40, 0])
    refused(ValueError, "1e+300 is outside of float32", worker.push, floats, 3, [1e300, 0, 0])
    refused(TypeError, "float64: expected float32", worker.push, floats, 3, array.array("d", [1, 2, 3]))
    worker.push(floats, 3, array.array("f", [0, 0, 0]))
    worker.push(floats, 3, [0, numpy.float64(0), 0])
    refused(TypeError, "masked", worker.push, floats, keys, numpy.ma.masked_array(rows, mask=rows == 0))
    refused(TypeError, "NumPy makes a copy", worker.pull, floats, keys, out=Copied())
    refused(TypeError, "values are a list", worker.pull, floats, keys, out=[0.0] * 12)
    refused(ValueError, "updates of shape (3, 4) for 4 keys", worker.push, floats, keys, rows.reshape(LENGTH, 4))
    refused(ValueError, "values of shape (2, 6) for 4 keys", worker.pull, floats, keys, out=rows.reshape(2, 6))
    worker.push(floats, keys, rows.reshape(4, LENGTH, 1))
    worker.push(floats, 3, rows[:1].reshape(LENGTH, 1))  # the shape of one key is unambiguous
    for call in worker.pull, worker.pull_if_local, worker.locality:
        refused(lapse.KeyOutOfRange, "of table 'floats'", call, floats, KEYS)
        for table in tables:  # a sparse one, too
            refused(lapse.KeyOutOfRange, "key -1: expected keys from 0 on", call, table, -1)
    refused(lapse.KeyOutOfRange, "key -2: ", worker.push, tables[3], numpy.array([1, -2]), numpy.zeros((2, 1), numpy.int64))
    worker.pull(tables[3], numpy.array([2**64 - 1], numpy.uint64))
    wrong_types(worker, tables)


def wrong_types(worker, tables):
    """Arguments that pybind11 refuses, with the package's messages."""
    floats = tables[0]
    for part, call, *given in (
            ("pull: table is 'floats', expected a lapse.Table", worker.pull, "floats", [1]),
            ("pull: keys is missing", worker.pull, floats),
            ("barrier: 1 arguments, expected at most 0", worker.barrier, 5),
            ("push: scale is 'x', expected a number", worker.push, floats, [1], [0, 0, 0], "x"),
            ("broadcast: root is -1, expected a whole number in its range", worker.broadcast, numpy.zeros(1), -1),
            ("locality: table is None, expected a lapse.Table", worker.locality, None, 1),
            ("all_reduce: reduce is 3, expected a str", worker.all_reduce, 1, 3)):
        assert "pybind" not in str(error := refused(TypeError, part, call, *given)), error
        assert "_native" not in str(error) and "\n" not in str(error), error
    refused(TypeError, "pull: there is no argument 'key', expected table, keys, out", worker.pull, floats, key=1)
    refused(TypeError, "pull: keys was given twice", worker.pull, floats, 1, keys=1)
    refused(TypeError, "values of object: expected float64 or int64", worker.all_reduce, object())
    refused(TypeError, "of object", worker.all_reduce, 2**70)


def server_arguments(server, table):
    refused(TypeError, "run_workers: workers is 'two', expected a whole number", server.run_workers, "two", print)
    refused(TypeError, "table is 'floats', expected a lapse.Table", server.memory_use, "floats")
    refused(TypeError, "communicator is 5: expected an mpi4py.MPI.Comm", lapse.Server, 5)
    refused(TypeError, "positional", server.create_table, "behind the keys", KEYS, 4)
    saved = server.checkpoints("unused")
    refused(TypeError, "add: table is 3, expected a lapse.Table", saved.add, 3)
    refused(TypeError, "save: step is 'x', expected a whole number", saved.save, "x")


def texts(server, tables):
    """The repr of the objects."""
    kind = type(server).__name__
    assert repr(server) == f"<lapse.{kind} of rank {server.rank} of {server.ranks}>", repr(server)
    assert repr(tables[0]) == "<lapse.Table 'floats' of 50 keys with 3 float32>", repr(tables[0])
    assert repr(tables[3]) == "<lapse.Table 'longs' of any keys with 1 int64>", repr(tables[3])
    kept = []

    def work(worker):
        assert repr(worker) == f"<lapse.Worker {worker.index} of {worker.count}>", repr(worker)
        kept.append(worker)
    server.run_workers(1, work)
    assert repr(kept[0]) == "<lapse.Worker that has ended>"
    assert lapse.Table.__module__ == "lapse"


def one_error_each(server):
    """Failing constructors raise, and the garbage collector reports no further error."""
    class Failing(lapse.Server):
        def __init__(self):
            raise LookupError("before the server")
    unraisable, former = [], sys.unraisablehook
    sys.unraisablehook = unraisable.append
    try:
        refused(TypeError, "cannot be copied or pickled", copy.deepcopy, server)
        refused(TypeError, "cannot be copied or pickled", copy.copy, server)
        refused(TypeError, "cannot be copied or pickled", pickle.dumps, server)
        refused(LookupError, "before the server", Failing)
        refused(TypeError, "communicator", lapse.Server, "world")
        gc.collect()
    finally:
        sys.unraisablehook = former
    assert not unraisable, unraisable


def refused_arguments(create_table):
    def no(kind, part, *arguments, **named):
        refused(kind, part, create_table, "bad", *arguments, **named)
    refused(TypeError, "the name of a table is 5", create_table, 5)
    refused(lapse.ConfigurationError, r"the name of a table is 'a\udcff': expected a text", create_table, "a\udcff")
    no(lapse.ConfigurationError, "keys of table 'bad' is -1", keys=-1)
    no(lapse.ConfigurationError, "keys of table 'bad'", keys=2**70)
    no(TypeError, "keys of table 'bad' is 1.5: expected a whole number", keys=1.5)
    no(lapse.ConfigurationError, "length of table 'bad' is -1", KEYS, length=-1)
    no(TypeError, "length of table 'bad' is 1.5", KEYS, length=1.5)
    no(lapse.ConfigurationError, "initial values of table 'bad'", KEYS, initial=("uniform", 1))
    no(TypeError, "initial values of table 'bad' is 'zero': expected a number", KEYS, initial="zero")
    no(lapse.errors.ConfigurationError, "consistency of table 'bad' is 'x': expected sequential, eventual, bsp, cap", KEYS,
       consistency="x")
    no(lapse.errors.ConfigurationError, "consistency of table 'bad' is 'cap(-1)'", KEYS, consistency="cap(-1)")
    no(TypeError, "seed of table 'bad'", KEYS, seed="1")
    no(TypeError, "max_keys of table 'bad'", sparse=True, max_keys="many")
    no(TypeError, "the parameter learning_rate of the rule of table 'bad'", KEYS, rule="sgd", learning_rate="fast")
    no(lapse.ConfigurationError, "nor has create_table", KEYS, len=4)
    refused(TypeError, "apply of the rule 'r' is None", lapse.Rule, "r", None)
    refused(TypeError, "the name of a rule is 3", lapse.Rule, 3, print)
    refused(lapse.ConfigurationError, "state of the rule 'r' is -1", lapse.Rule, "r", print, state=-1)
    refused(lapse.ConfigurationError, "merge of the rule 'r'", lapse.Rule, "r", print, merge="sum")
