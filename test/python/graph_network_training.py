"""Trainings by apps/graph_network."""
import json
import os
import signal

from graph_network_files import DATA, NODES, planted
from graph_network_parts import options_of
from support import refused
from torch_support import FOLDER, OPTIONS, WORLD

import lapse.torch as lt
from graph_network import program
from graph_network.training import Trainer
from torch_common.errors import ApplicationError
from torch_common.manager_options import manager_options

SMALL = ["--hidden", "8", "--dim", "8", "--neighbours", "4", "--batch", "5", "--rate", "0.1", "--epochs", "6", "--lookahead", "3"]
GIVEN = ["--inputs", "given", "--hidden", "8", "--neighbours", "4", "--batch", "5", "--rate", "0.1", "--epochs", "6"]


def train(*arguments, files=None):
    """The status and, if there is one, the summary."""
    path = DATA / "summary.json"
    options = options_of(*(planted() if files is None else files), *arguments, "--summary-json", str(path))
    status, failure = program.run_plain(WORLD, options), None
    if status is None:
        with lt.Context(WORLD, {**OPTIONS, "lapse.domain": "rank", **manager_options(options)}) as ctx:
            try:
                status = program.run(WORLD, ctx, options)
            except ApplicationError as error:  # On every rank. An exception that leaves the block ends the job.
                failure = str(error)
    if failure is not None:
        raise ApplicationError(failure)
    summary = json.loads(path.read_text(encoding="utf-8")) if status == 0 else None
    WORLD.barrier()
    return status, summary


def test_learns():
    in_tables = ["--model", "sage", "--inputs", "both", "--optimizer", "adam", "--dense", "table", "--rate", "0.02"]
    for arguments in (SMALL, [*SMALL, *in_tables],
                      [*GIVEN, "--partition", "random", "--technique", "static_partitioning", "--l2", "0.001"],
                      [*GIVEN, "--workers", "2", "--partition", "range"]):
        output = DATA / "classes"
        status, summary = train(*arguments, "--output", str(output))
        assert status == 0 and summary["loss"] < summary["history"][0]["loss"] * 0.8
        assert summary["last_test_accuracy"] >= 0.7, (arguments, summary["history"])
        classes = [int(line) for line in output.read_text(encoding="utf-8").split()]
        tested = [n for n in range(NODES) if n // 3 % 4 == 3]
        assert len(classes) == NODES
        assert sum(classes[n] == n % 3 for n in tested) / len(tested) == summary["last_test_accuracy"]
        assert summary["statistics"]["server"]["ranks"] == WORLD.size and summary["isolated_nodes"] >= 1


def test_localize():
    _, summary = train(*SMALL, "--technique", "localize")
    assert (summary["relocations_per_epoch"] > 0) == (WORLD.size > 1) and summary["last_test_accuracy"] >= 0.6


def test_like_plain():
    if WORLD.size > 1:
        refused(ApplicationError, "--plain on 2 ranks", train, "--plain")
        return
    for arguments in (SMALL, [*GIVEN, "--optimizer", "sgd", "--l2", "0.01"]):
        of_plain = [word for word in arguments if word not in ("--lookahead", "3")]
        (_, ours), (_, plain) = train(*arguments, "--dropout", "0"), train(*of_plain, "--dropout", "0", "--plain")
        assert len(ours["history"]) == len(plain["history"]) and plain["last_test_accuracy"] >= 0.7
        assert abs(ours["last_test_accuracy"] - plain["last_test_accuracy"]) <= 0.2


def test_workers_without_nodes():
    split = ["none"] * NODES
    split[:3] = ["train"] * 3
    split[40:] = ["test"] * (NODES - 40)
    status, summary = train(*GIVEN, "--workers", "2", "--partition", "range", files=planted(split))
    assert status == 0 and summary["test_accuracy"] is not None and "best_epoch" not in summary
    status, summary = train(*SMALL, "--dense", "table", "--partition", "range", files=planted(["train"] + ["none"] * (NODES - 1)))
    assert status == 0 and "test_accuracy" not in summary


def test_class_without_trained_nodes():
    split = ["train" if n % 3 else "test" for n in range(NODES)]
    status, summary = train(*GIVEN, files=planted(split))
    assert status == 0 and summary["absent_classes"] == 1 and summary["last_test_accuracy"] < 0.3


def test_divergence():
    refused(ApplicationError, "training diverged in epoch", train, *SMALL, "--optimizer", "sgd", "--rate", "1e30")


def test_resume():
    folder = os.path.join(FOLDER, "whole")
    _, whole = train(*SMALL)
    status, first = train(*SMALL[:-4], "--epochs", "3", "--lookahead", "3", "--checkpoint-dir", folder)
    assert status == 0 and len(first["history"]) == 3
    refused(ApplicationError, "add --resume", train, *SMALL, "--checkpoint-dir", folder)
    refused(ApplicationError, "--hidden is 9, but 8 in the checkpoint", train, *SMALL, "--hidden", "9",
            "--checkpoint-dir", folder, "--resume")
    status, resumed = train(*SMALL, "--checkpoint-dir", folder, "--resume")
    assert status == 0 and resumed["history"][:3] == first["history"] and len(resumed["history"]) == 6
    if WORLD.size == 1:  # Workers of several ranks push in any order.
        assert [epoch["loss"] for epoch in resumed["history"]] == [epoch["loss"] for epoch in whole["history"]]
    assert abs(resumed["loss"] - whole["loss"]) < 0.2


def test_resume_with_other_workers():
    arguments = [*SMALL, "--dense", "table", "--checkpoint-dir", os.path.join(FOLDER, "dense")]
    _, first = train(*arguments, "--epochs", "2")
    status, resumed = train(*arguments, "--epochs", "3", "--workers", "2", "--resume")
    assert status == 0 and len(resumed["history"]) == 3 and resumed["loss"] < first["history"][0]["loss"]


def test_stop():
    folder = os.path.join(FOLDER, "stopped")
    before = Trainer._train_epoch

    def train_epoch(self, epoch):
        before(self, epoch)
        if epoch == 2 and WORLD.rank == WORLD.size - 1:
            os.kill(os.getpid(), signal.SIGUSR1)
    Trainer._train_epoch = train_epoch
    try:
        status, _ = train(*SMALL, "--checkpoint-dir", folder)
    finally:
        Trainer._train_epoch = before
    assert status == 75
    status, summary = train(*SMALL, "--checkpoint-dir", folder, "--resume")
    assert status == 0 and len(summary["history"]) == 6
