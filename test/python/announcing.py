"""Tests: announcements by workers of a manager and by other threads, and draws of samplers."""
import threading

import lapse
import numpy

from support import KEYS, LENGTH, refused


def intent_types(manager, table):
    before = manager.statistics()["intents"]["total"]["read_only_keys"]

    def work(worker):
        worker.intent(table, [1, 2, 3], worker.clock, worker.clock + 1, "read_only")
        worker.intent(table, range(4, 6), worker.clock, worker.clock + 1, type="read_only")
        worker.intent(table, [7], worker.clock, worker.clock + 1)
        for empty in (range(0), range(0, -5), range(5, 2), range(KEYS, KEYS)):
            worker.intent(table, empty, worker.clock, worker.clock + 1)
        refused(lapse.ConfigurationError, "'write': expected read_write or read_only",
                worker.intent, table, [7], worker.clock, worker.clock + 1, "write")
        refused(lapse.KeyOutOfRange, "", worker.intent, table, range(0, 2**63), 0, 1)
        refused(lapse.UsageError, "range(-5, 3): expected keys from 0", worker.intent, table, range(-5, 3), 0, 1)
        worker.sync_barrier()
    manager.run_workers(1, work)
    assert manager.statistics()["intents"]["total"]["read_only_keys"] - before == 5 * manager.ranks


def loaders(manager, table):
    """A thread announces and prepares for a worker, which waits for it; later the loader refuses calls."""
    sampler = manager.create_sampler(table)
    kept = []

    def work(worker):
        loader = worker.loader()
        kept.append(loader)
        assert isinstance(loader, lapse.Loader) and loader.clock == worker.clock

        def load():
            loader.intent(table, range(10), loader.clock, loader.clock + 1)
            kept.append(loader.prepare_sample(sampler, 4, loader.clock, loader.clock + 1))
            refused(lapse.UsageError, "own thread", worker.intent, table, [1], 0, 1)
        thread = threading.Thread(target=load)
        thread.start()
        thread.join()
        keys, values = worker.pull_sample(kept[1], 4)
        assert keys.shape == (4,) and values.shape == (4, LENGTH)
    manager.run_workers(1, work)
    assert len(kept) == 2
    refused(lapse.UsageError, "after its phase", kept[0].intent, table, [1], 0, 1)
    refused(lapse.UsageError, "after its phase", kept[0].prepare_sample, sampler, 4, 0, 1)


def samplers(manager, table):
    """Equal seeds give equal draws; a pool of two keys has no third one."""
    of_seed = [manager.create_sampler(table, scheme="naive", seed=seed, postpone=False) for seed in (5, 5, 6)]
    pool = manager.create_sampler(table, scheme="pool", pool_keys=2, pool_uses=3)

    def work(worker):
        def drawn(sampler, count):
            sample = worker.prepare_sample(sampler, count, worker.clock, worker.clock + 1)
            return worker.take_keys(sample, count).tolist()
        first, again, other = (drawn(sampler, 20) for sampler in of_seed)
        assert first == again != other
        assert max(numpy.unique(drawn(pool, 6), return_counts=True)[1]) >= 3
    manager.run_workers(1, work)
    for name, wrong, kind in (("postpone", 1, TypeError), ("pool_keys", 0, lapse.ConfigurationError),
                              ("pool_uses", 2**40, lapse.ConfigurationError), ("seed", -1, lapse.ConfigurationError),
                              ("first", 1.5, TypeError), ("count", -1, lapse.ConfigurationError)):
        refused(kind, name, manager.create_sampler, table, **{name: wrong})
    assert KEYS == table.keys


def announcing(manager, table):
    intent_types(manager, table)
    loaders(manager, table)
    samplers(manager, table)
