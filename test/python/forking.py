"""Tests: children made by fork. Their calls raise errors, their handles end without an effect, and they disturb no rank."""
import multiprocessing
import os
import signal
import sys

import lapse
import numpy
from support import KEYS, LENGTH, refused


def children(options, folder):
    child = None
    try:
        with lapse.Server(options=options) as server:
            table = server.create_table("forking", KEYS, dtype=numpy.float32, length=LENGTH)
            add(server, table, 1)
            in_child(lambda: use_server(server, table, folder))
            process = multiprocessing.get_context("fork").Process(target=run_quietly, args=(server, table))
            process.start()
            process.join(30)
            assert process.exitcode == 1, process.exitcode
            with multiprocessing.get_context("fork").Pool(2) as pool:
                assert pool.map(abs, range(-3, 1)) == [3, 2, 1, 0]
            add(server, table, 2)
            server.run_workers(2, lambda worker: leave_worker(worker, table))
            server.run_here(lambda worker: hold_and_fork(worker, table))
            with server.start_progress(1), server.attach() as worker:
                in_child(lambda: refused(lapse.UsageError, "made by fork", worker.pull, table, [1]))
            child = forked()
            if child == 0:
                sys.exit(6)
            ended(child, 6)
            child = forked()
            if child == 0:
                raise LookupError("a child leaves the block")
            ended(child, 3)
            add(server, table, 3)
    except LookupError as error:
        if child == 0:
            grandchild = forked()
            if grandchild == 0:
                sys.excepthook(type(error), error, None)  # like the interpreter does for an uncaught exception
            ended(grandchild, 1)
            os._exit(3)
        raise


def run_quietly(server, table):
    sys.stderr = open(os.devnull, "w")  # expected output there looks like a failure
    server.run_here(lambda worker: worker.pull(table, [1]))


def add(server, table, phases):
    def work(worker):
        worker.push(table, numpy.arange(KEYS), numpy.ones((KEYS, LENGTH), numpy.float32))
        worker.barrier()
        assert (worker.pull(table, numpy.arange(KEYS)) == phases * worker.count).all()
        worker.barrier()

    server.run_workers(2, work)


def use_server(server, table, folder):
    for call, *arguments in ((server.create_table, "other", 3), (server.run_workers, 1, print), (server.run_here, print),
                             (server.attach().__enter__,), (server.progress,), (server.statistics,), (server.request_stop,),
                             (server.memory_use,), (server.memory_use, table), (lapse.JobControl, server)):
        refused(lapse.UsageError, "made by fork", call, *arguments)
    checkpoints = server.checkpoints(folder)
    refused(lapse.UsageError, "made by fork", checkpoints.save, 1)
    assert 0 <= server.rank < server.ranks and table.length == LENGTH
    server.close()
    with server:
        pass
    del server, table, checkpoints


def leave_worker(worker, table):
    """Children of a worker thread that return from its function, which has no caller in the child."""
    worker.barrier()
    if worker.local_index == 0:
        for status, leave in ((5, lambda: sys.exit(5)), (0, lambda: sys.exit()), (1, lambda: None)):
            child = forked()
            if child == 0:
                refused(lapse.UsageError, "made by fork", worker.push, table, [1], numpy.ones((1, LENGTH), numpy.float32))
                return leave()
            ended(child, status)
    worker.barrier()
    return None


def hold_and_fork(worker, table):
    keys = numpy.arange(worker.index * 3, worker.index * 3 + 3)
    operation = worker.pull_async(table, keys)
    in_child(lambda: refused(lapse.UsageError, "made by fork", worker.pull_async, table, keys))
    operation.wait()
    with worker.lease(table, keys) as lease:
        child = forked()
        if child == 0:
            lease.values(table)[:] = 1000
        else:
            ended(child, 4)
    if child == 0:
        os._exit(4)


def forked():
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        sys.stderr = open(os.devnull, "w")  # expected output there looks like a failure
    return child


def in_child(call):
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        status = 1
        try:
            call()
            status = 0
        except BaseException as error:
            sys.stderr.write(f"in a child: {error!r}\n")
            sys.stderr.flush()
        finally:
            os._exit(status)
    ended(child, 0)


def ended(child, expected):
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status == expected, (status, expected)
