"""Tests: lengths and homes by key, from arrays and from functions."""
import lapse
import numpy
from support import KEYS, refused

LENGTHS = numpy.arange(KEYS) % 3 + 1


def lengths_and_homes(server):
    by_array = server.create_table("by array", KEYS, lengths=LENGTHS, rule="adagrad", home=numpy.arange(KEYS) % server.ranks)
    asked = []

    def length(key):
        asked.append(key)
        return LENGTHS[key]
    by_function = server.create_table("by function", KEYS, dtype=numpy.float64, lengths=length,
                                      home=lambda key: server.ranks - 1, location_caches=False)
    sparse = server.create_table("by any key", dtype=numpy.int64, sparse=True, lengths=lambda key: key % 4 + 1,
                                 home=lambda key: key % server.ranks, max_keys=100, memory_limit_bytes=1 << 20)
    assert sorted(set(asked)) == list(range(KEYS)) and by_array.length == 0
    assert by_array.lengths([3, 4]).tolist() == [1, 2] and sparse.lengths(7).tolist() == [4]
    keys = numpy.array([3, 4, 5], numpy.uint64)  # 1, 2 and 3 elements
    large = numpy.array([1000001, 1000003])      # 2 and 4

    def work(worker):
        worker.push(by_array, keys, -numpy.ones(6, numpy.float32))
        worker.push(by_function, keys, numpy.arange(6.0))
        worker.push(sparse, large, [1, 2, 3, 4, 5, 6])
        worker.sync_barrier()
        assert worker.pull(by_array, keys).shape == (6,) and (worker.pull(by_array, keys) > 0).all()
        assert worker.pull(by_function, keys).tolist() == [worker.count * value for value in range(6)]
        assert worker.pull(sparse, large).tolist() == [worker.count * value for value in range(1, 7)]
        refused(lapse.LengthMismatch, "by array", worker.push, by_array, keys, numpy.ones(5, numpy.float32))
        worker.barrier()
        leased(worker, by_function, by_array, keys)
        worker.barrier()
        owned, values = worker.local_values(by_function)
        assert values.shape == (LENGTHS[owned].sum(),)
        refused(lapse.Error, "the length 9999999999 of key 9999999998", worker.pull, by_key_failing[0], 9999999998)
        worker.barrier()
    by_key_failing = [server.create_table("failing", sparse=True, lengths=lambda key: key + 1)]
    server.run_workers(1, work)
    refusals(server)
    at_home()


def at_home():
    """If each rank is a domain of its own, a key starts at its home."""
    asked = []

    def home(key):
        asked.append(key)
        return (key + 1) % server.ranks
    with lapse.Server(options={"lapse.domain": "rank", "lapse.log_level": "warning"}) as server:
        ranks = numpy.arange(KEYS) % server.ranks
        tables = [(server.create_table("by array", KEYS, home=ranks), 0), (server.create_table("by function", KEYS, home=home), 1)]
        assert asked == list(range(KEYS))  # each once

        def work(worker):
            for table, offset in tables:
                keys = worker.local_values(table)[0]
                assert ((keys + offset) % server.ranks == server.rank).all() and len(keys) in (KEYS // server.ranks, -(-KEYS // server.ranks))
                worker.barrier()
                worker.push(table, range(KEYS), numpy.ones(KEYS, numpy.float32))
                worker.sync_barrier()
                assert (worker.pull(table, range(KEYS)) == worker.count).all()
            assert len(asked) == KEYS
        server.run_workers(1, work)


def leased(worker, table, ruled, keys):
    """All workers add to values of different lengths."""
    before = worker.pull(table, keys)
    worker.barrier()
    with worker.lease((table, keys), (ruled, keys)) as lease:
        values = lease.values(table)
        assert values.shape == (6,) and lease.states(ruled).shape == (6,) and (lease.states(ruled) > 0).all()
        values += [1, 2, 3, 4, 5, 6]
        lease.apply(table, numpy.full(6, 10.0))
        refused(lapse.LengthMismatch, "updates", lease.apply, table, numpy.ones(5))
    worker.barrier()
    assert (worker.pull(table, keys) == before + worker.count * numpy.array([11, 12, 13, 14, 15, 16])).all()


def refusals(server):
    """Impossible arguments: the message names the table, the argument, and what was expected."""
    def bad(kind, part, **named):
        return refused(kind, part, server.create_table, "bad", **{"keys": KEYS, **named})
    bad(lapse.ConfigurationError, "lengths of table 'bad': 49 numbers, expected one for each of 50 keys", lengths=LENGTHS[1:])
    bad(lapse.ConfigurationError, "0 for key 3, expected 1 to", lengths=[1, 1, 1] + [0] * (KEYS - 3))
    bad(lapse.ConfigurationError, "an array of float64", lengths=LENGTHS / 2)
    bad(lapse.ConfigurationError, "expected a function of the key", keys=0, sparse=True, lengths=[1])
    bad(lapse.ConfigurationError, "a length, 2, and lengths", length=2, lengths=LENGTHS)
    bad(lapse.UserCodeFailed, "the length 0 of key 0: expected 1 to", lengths=lambda key: 0)
    bad(lapse.UserCodeFailed, "'str' object cannot be", lengths=lambda key: "one")
    bad(lapse.UserCodeFailed, "no length", lengths=lambda key: raise_(LookupError("no length")))
    bad(lapse.ConfigurationError, "home 'hush' of table 'bad'", home="hush")
    bad(lapse.ConfigurationError, "-1 for key 0, expected 0 to", home=[-1] * KEYS)
    bad(lapse.ConfigurationError, "for key 0", home=[server.ranks] * KEYS)
    bad(lapse.UserCodeFailed, "the home -1 of key 0: expected 0 to", home=lambda key: -1)
    refused(lapse.UserCodeFailed, "no home", server.create_table, "bad", KEYS, home=lambda key: raise_(LookupError("no home")))
    # Only one rank fails: the others receive the error.
    failing = server.ranks - 1
    refused(lapse.UserCodeFailed if server.rank == failing else lapse.PeerFailed, "this rank alone", server.create_table, "bad",
            KEYS, lengths=lambda key: raise_(LookupError("this rank alone")) if server.rank == failing else 1)
    server.create_table("bad", KEYS, lengths=LENGTHS)  # no state of the others is left


def raise_(error):
    raise error
