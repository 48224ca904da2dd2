"""Tests: single elements of values."""
import lapse
import numpy
from support import refused


def elements(server):
    table = server.create_table("weights", 10, length=5, rule="adagrad")
    counts = server.create_table("word counts", 10, dtype=numpy.int64, length=5)
    moments = server.create_table("moments", 10, length=5, rule="adam")
    keys = numpy.array([3, 3, 7], numpy.uint64)

    def work(worker):
        worker.push_elements(counts, keys, [4, 0, 2], [1, 10, 100])
        worker.push_elements_async(counts, 3, numpy.array([4, 4]), [1, 1]).wait()
        worker.barrier()
        workers = worker.count
        assert worker.pull_elements(counts, keys, [4, 0, 2]).tolist() == [3 * workers, 10 * workers, 100 * workers]
        out = numpy.empty(2, numpy.int64)
        assert worker.pull_elements(counts, 3, numpy.array([0, 4], numpy.uint32), out=out) is out
        assert out.tolist() == [10 * workers, 3 * workers]
        ahead = worker.pull_elements_async(counts, [7, 3], [2, 0])
        assert ahead.wait().tolist() == [100 * workers, 10 * workers]
        worker.push_elements(table, keys, [1, 2, 3], numpy.ones(3, numpy.float32), scale=0.5)
        assert (worker.pull_elements(table, 3, [1, 2]) < 0).all() and worker.pull_elements(table, 3, [0]) == 0
        assert worker.pull_elements(table, [], []).shape == (0,)

        error = refused(lapse.IndexOutOfRange, "index 5 of key 3 of table 'word counts'", worker.pull_elements, counts, 3, [0, 5])
        assert isinstance(error, IndexError) and isinstance(error, lapse.UsageError)
        refused(lapse.LengthMismatch, "indices", worker.push_elements, counts, [1, 2], [0, 1, 2], [1, 2, 3])
        refused(lapse.LengthMismatch, "updates", worker.push_elements, counts, 1, [0, 1, 2], [1, 2])
        refused(lapse.UsageError, "adam", worker.push_elements, moments, 1, [0], [1.0])
        refused(ValueError, "indices", worker.pull_elements, counts, 3, [-1])
        refused(TypeError, "indices", worker.pull_elements, counts, 3, ["one"])
        worker.barrier()
    server.run_workers(1, work)
