"""Tests: stops at signals and at deadlines, checkpoints by intervals; attached workers that are dropped; regions."""
import collections
import gc
import os
import signal
import threading
import time
import warnings

import lapse

from support import refused


def signals(options):
    """A signal to the last rank stops the job; then the former handler is restored."""
    formerly = signal.getsignal(signal.SIGUSR2)
    seen = []
    signal.signal(signal.SIGUSR2, lambda number, frame: seen.append(number))
    with lapse.Server(options=options) as server, lapse.JobControl(server, [signal.SIGUSR2]) as job:
        assert not job.should_stop() and job.stop_reason == ""
        if server.rank == server.ranks - 1:
            os.kill(os.getpid(), signal.SIGUSR2)

        def work(worker):
            while not job.stop_requested:
                worker.wait_all()
        server.run_workers(1, work)
        assert job.should_stop() and job.stop_reason == f"SIGUSR2 on rank {server.ranks - 1}", job.stop_reason
        assert not seen
        refused(lapse.UsageError, "signal", lapse.JobControl, server, [signal.SIGKILL])
    refused(lapse.UsageError, "has ended", job.should_stop)
    os.kill(os.getpid(), signal.SIGUSR2)
    assert seen == [signal.SIGUSR2]
    signal.signal(signal.SIGUSR2, formerly)


def intervals(options):
    with lapse.Server(options=options) as server:
        job = lapse.JobControl(server, every_epochs=2, every_clocks=10)
        assert [job.need_checkpoint(epochs) for epochs in range(5)] == [False, False, True, False, True]
        assert job.need_checkpoint(4, 10) and not job.need_checkpoint(4, 19)
        job.begin_interval(clocks=20)
        assert not job.need_checkpoint(clocks=29) and job.need_checkpoint(clocks=30)
        assert not job.checkpoint_due and not job.should_stop()
        job = lapse.JobControl(server, deadline=time.time() + 3600, grace=7200)
        assert lapse.JobControl(server, deadline=0, grace=9_000_000_000).should_stop()
        assert job.stop_requested and job.should_stop() and job.stop_reason == "the time of the job ends"
        for name, wrong, kind in (("every_epochs", 1.5, TypeError), ("every_clocks", -1, ValueError),
                                  ("every_seconds", "x", TypeError), ("deadline", float("nan"), ValueError),
                                  ("grace", None, TypeError)):
            refused(kind, name, lapse.JobControl, server, **{name: wrong})
        refused(TypeError, "signal", lapse.JobControl, server, ["TERM"])
        refused(lapse.UsageError, "interval of 0", lapse.JobControl, server, every_epochs=0)


def dropped_attachments(server, table):
    """The worker of a dropped attachment has ended; attach and stop_progress free its slot."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with server.start_progress(1):
            for _ in range(2):
                worker = server.attach().__enter__()
                gc.collect()
                refused(lapse.UsageError, "has ended", worker.pull, table, 3)
            with server.attach() as worker:
                worker.pull_async(table, 3)
            operation = []

            def leave():
                attachment = server.attach()
                operation.append(attachment.__enter__().pull_async(table, 3))
            thread = threading.Thread(target=leave)
            thread.start()
            thread.join()
    assert [warning.category for warning in caught] == [ResourceWarning] * 3, caught
    assert "keeps its place until the next attach or stop_progress" in str(caught[0].message)


def regions(server):
    """Regions end on their thread, in reverse order; a hook that raises has no effect on calls."""
    open_by_thread, ended, wrong = collections.defaultdict(list), set(), []

    def begin(name):
        open_by_thread[threading.get_ident()].append(name)

    def end(name):
        last = open_by_thread[threading.get_ident()].pop()
        if last != name:
            wrong.append((name, last))
        ended.add(name)
    refused(TypeError, "begin_region is a int: expected a function(name)", lapse.set_hooks, begin_region=1)
    lapse.set_hooks(begin_region=begin, end_region=end)
    try:
        server.run_workers(2, lambda worker: worker.barrier())
        server.run_here(lambda worker: worker.wait_sync())
    finally:
        lapse.set_hooks()
    assert ended >= {"lapse run_workers", "lapse run_here", "lapse worker", "lapse collective", "lapse end of phase"}, ended
    assert not wrong, wrong
