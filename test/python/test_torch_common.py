"""Tests of apps/torch_common: test_torch_common.py <folder for checkpoints>, on any number of ranks."""
from torch_support import FOLDER, OPTIONS, WORLD

import json
import os
import pathlib
import signal

import torch

import lapse
import lapse.torch as lt
from support import refused
from torch_common.checkpoint_options import add_checkpoint_options, parse_interval, parse_signals
from torch_common.command_line import CommandLine, Stop
from torch_common.errors import ApplicationError, FileError, OptionError, on_every_rank, on_rank_0
from torch_common.gradient_exchange import GradientExchange
from torch_common.management_report import add_costs, add_management
from torch_common.manager_options import add_manager_options, manager_options, table_options, technique_of
from torch_common.measured_phase import PhaseCost, run_measured
from torch_common.option_values import choice, integer, number
from torch_common.seeds import seed_of
from torch_common.summary import Summary
from torch_common.training_job import TrainingJob
from torch_common.training_options import add_training_options

CONFIG = pathlib.Path(FOLDER).parent / f"torch_common_{WORLD.rank}.ini"


def command_line():
    made = CommandLine("A program.")
    made.add_files("data", "data")
    made.add("dim", integer(1, 100), 8)
    made.add("rate", number(0, above=True), 0.5)
    made.add_flag("fast", "fast")
    made.add("rule", choice("sgd", "adam"), "sgd")
    made.add("beta", number(0, 1), 0.9, needs=("--rule adam", lambda options: options.rule == "adam"))
    add_training_options(made, epochs=2, lookahead=10)
    add_manager_options(made)
    add_checkpoint_options(made)
    return made


def config(text):
    CONFIG.parent.mkdir(parents=True, exist_ok=True)
    CONFIG.write_text(text, encoding="utf-8")
    return str(CONFIG)


def test_command_line():
    options = command_line().parse(["a", "b", "--dim", "3", "--set", "lapse.domain=2", "--set=adapm.technique=nups"])
    assert (options.data, options.dim, options.rate, options.fast) == (["a", "b"], 3, 0.5, False)
    assert technique_of(options) == "nups" and options.given == {"data", "dim", "set"}
    assert manager_options(options) == {"lapse.domain": "2", "adapm.technique": "nups"}
    options = command_line().parse(["--technique", "localize", "--consistency", "cap(4)"])
    assert manager_options(options) == {"adapm.technique": "localize"} and table_options(options) == {"consistency": "cap(4)"}
    for arguments, part in ((["--dim", "0"], "--dim: '0', expected an integer from 1 to 100"), (["--rate", "nan"], "above 0"),
                            (["--beta", "0.5"], "--beta applies only with --rule adam"), (["--di", "3"], "--di"),
                            (["--rule", "x"], "'x', expected sgd or adam"), (["--set", "domain=2"], "expected NAME=VALUE"),
                            (["--resume"], "--resume applies only with --checkpoint-dir"), (["--consistency", "cap"], "cap(s)"),
                            (["--checkpoint-dir", "x", "--checkpoint-every", "5weeks"], "5epochs")):
        refused(OptionError, part, command_line().parse, arguments)


def test_config_file():
    path = config("# comment\nrule = adam\nbeta = 0.5\nfast = true\nset = lapse.domain=2\nset = lapse.log_level=error\n")
    options = command_line().parse(["--config", path, "--dim", "5", "--beta", "0.25"])
    assert (options.rule, options.beta, options.fast, options.dim) == ("adam", 0.25, True, 5) and len(options.set) == 2
    for text, part in (("dim = 3\ndim = 4\n", ":2: dim is set in line 1 already"), ("dmi = 3\n", "did you mean 'dim'"),
                       ("\ndim = x\n", ":2: dim: 'x', expected an integer"), ("[part]\n", "sets no option"),
                       ("fast = maybe\n", "expected true or false"), ("beta = 0.5\n", "--beta applies only with")):
        refused(OptionError, part, command_line().parse, ["--config", config(text)])
    refused(OptionError, "No such file", command_line().parse, ["--config", "/nowhere/x.ini"])


def test_all_ranks_stop():
    arguments = ["--dim", "0"] if WORLD.rank == WORLD.size - 1 else []
    try:
        command_line().parse_on_all(arguments, WORLD)
        raise AssertionError("no rank stopped")
    except Stop as stop:
        assert stop.status == 2

    def fail():
        if WORLD.rank == WORLD.size - 1:
            raise FileError("x.csv", "bad", 3, 7)
        return 5
    refused(FileError, "x.csv:3:7: bad", on_every_rank, WORLD, fail)

    def lack():
        if WORLD.rank == WORLD.size - 1:
            raise FileError("x.csv", "is not there")
    refused(ApplicationError, "x.csv: is not there" if WORLD.size == 1 else f"rank {WORLD.size - 1}: x.csv: is", on_every_rank, WORLD, lack)
    assert on_every_rank(WORLD, lambda: WORLD.rank) == WORLD.rank and on_rank_0(WORLD, lambda: 7) == 7
    refused(ApplicationError, "nowhere", on_rank_0, WORLD, lambda: open("/nowhere/x", "w", encoding="utf-8"))


def test_values():
    assert parse_interval("5epochs,10minutes,1000clocks") == {"epochs": 5, "seconds": 600, "clocks": 1000}
    assert parse_interval("30s") == {"seconds": 30} and parse_interval("1epoch,2h") == {"epochs": 1, "seconds": 7200}
    assert parse_interval("never") == {} and parse_signals("SIGTERM,USR1") == (signal.SIGTERM, signal.SIGUSR1)
    assert seed_of(1, "a", 2) == seed_of(1, "a", 2) != seed_of(1, "a", 3) and 0 <= seed_of(2**32 - 1) < 2**63
    summary = Summary()
    summary.add("loss", float("nan"), "loss")
    summary.add("history", [{"seconds": 1.5, "auc": float("inf")}])
    assert json.loads(summary.to_json()) == {"loss": None, "history": [{"seconds": 1.5, "auc": None}]}
    assert summary.to_text() == "loss  nan\n"


def test_gradients_are_weighted():
    with lt.Context(WORLD, OPTIONS) as ctx, ctx.phase() as worker:
        model = torch.nn.Linear(2, 1, bias=False)
        exchange = GradientExchange(worker, model)
        total = sum(range(1, worker.count + 1))
        for turn in range(2):
            model.weight.grad = torch.full((1, 2), float(worker.index))
            weight = worker.index + 1
            assert exchange.exchange(weight, worker.index == 0, turn == 1 and worker.index == 0) == (total, True, turn == 1)
            mean = sum(index * (index + 1) for index in range(worker.count)) / total
            assert torch.allclose(model.weight.grad, torch.full((1, 2), mean))
        model.weight.grad = torch.full((1, 2), 7.0)
        if worker.index == 0:
            exchange.exchange(2, False, False)
        else:
            assert exchange.exchange(0, False, False) == (2.0, False, False)
        assert model.weight.grad.eq(7).all()


def test_costs():
    with lt.Context(WORLD, OPTIONS) as ctx:
        rows = lt.Embedding(ctx, "rows", 20, 4, rule="sgd")
        total = PhaseCost()
        for _ in range(2):
            def train(worker):
                loader = lt.IntentLoader(ctx, [torch.arange(20)] * 3, {rows: lambda batch: batch}, 2, epochs=1)
                for batch in loader:
                    rows(batch).sum().backward()
                    ctx.step()
            total += run_measured(ctx, WORLD, 1, "epoch", train)
        assert total.access("operations") >= 12 * WORLD.size and PhaseCost(**total.state()).accesses == total.accesses
        summary = Summary()
        add_costs(summary, total, 2)
        statistics = ctx.manager.statistics()
        add_management(summary, "adaptive", total, statistics, 2)
        values = json.loads(summary.to_json())
        assert 0 < values["seconds_per_epoch"] and 0 <= values["remote_share"] <= 1 - values["main_share"] - values["copy_share"] + 1e-9
        counted = statistics["server"]["tables"][0]["total"]
        assert total.access("local_pulls", "remote_pulls") == counted["local_pulls"] + counted["remote_pulls"]


def job_of(ctx, *arguments):
    return TrainingJob(ctx, command_line().parse(["--checkpoint-dir", FOLDER, *arguments]), WORLD)


def test_job():
    with lt.Context(WORLD, OPTIONS) as ctx:
        rows = lt.Embedding(ctx, "rows", 10, 2, rule="sgd")
        job = job_of(ctx, "--resume", "--checkpoint-every", "4clocks")
        assert job.begin({"--dim": 2}) is None and not job.shall_leave(3) and job.shall_leave(4)
        with ctx.phase() as worker:
            if worker.index == 0:
                rows.set_rows(torch.arange(10), torch.ones(10, 2))
            worker.barrier()
        assert not job.pause(0, 4, lambda: {"at": 4})
        assert not job.shall_leave(3) and job.shall_leave(4)
        if WORLD.rank == WORLD.size - 1:
            os.kill(os.getpid(), signal.SIGUSR1)
        assert job.pause(1, 6, lambda: {"at": 6}) and "SIGUSR1" in job.stop_text and "step 2" in job.stop_text
    with lt.Context(WORLD, OPTIONS) as ctx:
        rows = lt.Embedding(ctx, "rows", 10, 2, rule="sgd")
        refused(ApplicationError, "add --resume", job_of, ctx)
        job = job_of(ctx, "--resume")
        refused(ApplicationError, "--dim is 3, but 2 in the checkpoint", job.begin, {"--dim": 3})
        assert job.begin({"--dim": 2, "--new": 1}) == {"at": 6}
        with ctx.phase() as worker:
            assert rows.rows(torch.arange(10)).eq(1).all()
            worker.barrier()
        job.set_progress(1, 6)
        job.finish(1, 6, None)  # Nothing was trained since then.
        job = job_of(ctx, "--resume", "--resume-step", "1")
        assert job.begin({"--dim": 2}) == {"at": 4}
        job.close()
        without = TrainingJob(ctx, command_line().parse([]), WORLD)
        assert without.begin({}) is None and not without.pause(1, 1, None) and not without.shall_leave(10**9)


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
if WORLD.rank == 0:
    print(f"torch_common: all tests passed on {WORLD.size} ranks")
