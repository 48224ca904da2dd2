"""apps/click_prediction as a program, on any number of ranks: its main function with arguments."""
import contextlib
import io
import json
import lzma
import os
import pathlib
import shutil
import signal

import numpy

from click_prediction.program import main
from click_prediction.trainer import Trainer
from torch_support import FOLDER, WORLD

DATA = pathlib.Path(__file__).resolve().parents[2] / "apps" / "data" / "adult"
RECIPES = DATA.parents[1] / "recipes"
HERE = pathlib.Path(FOLDER).parent / "click_runs"
TRAIN, TEST = str(HERE / "train.csv"), str(HERE / "test.csv")
SCHEMA = ["--schema", str(RECIPES / "adult.schema")]
SMALL = ["--dim", "4", "--hidden", "8,4", "--bins", "20", "--batch", "100", "--wide-rate", "0.1", "--epochs", "2"]
COMMON = [TRAIN, *SCHEMA, *SMALL]


def prepare():
    """The first rows of the set Adult."""
    if WORLD.rank == 0:
        shutil.rmtree(HERE, ignore_errors=True)
        HERE.mkdir(parents=True)
        for path, name, count in ((TRAIN, "persons-train.csv.xz", 3001), (TEST, "persons-test.csv.xz", 1001)):
            with lzma.open(DATA / name, "rt") as source, open(path, "w", encoding="utf-8") as target:
                target.writelines(line for line, _ in zip(source, range(count)))
    WORLD.barrier()


def run(*arguments, status=0):
    """Runs the program on all ranks; returns the summary and what rank 0 has printed, to both streams."""
    output = io.StringIO()
    path = HERE / "summary.json"
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        found = main([*arguments, *(["--summary-json", str(path)] if status == 0 else [])])
    assert found == status, (found, arguments, output.getvalue())
    WORLD.barrier()
    return json.loads(path.read_text(encoding="utf-8")) if status == 0 else None, WORLD.bcast(output.getvalue())


def test_training():
    summary, text = run(*COMMON, "--test", TEST, "--output", str(HERE / "test.tsv"))
    assert summary["test_auc"] > 0.87 and summary["test_log_loss"] < 0.4 < summary["test_base_log_loss"]
    assert summary["test_samples"] == 1000 and len(summary["test_calibration"]) == 10 and len(summary["history"]) == 2
    assert "expected calibration error" in text and summary["workers"] == WORLD.size
    intents = summary["statistics"]["intents"]["total"]
    assert intents["intents"] > 0 and summary["technique"] == "adaptive"
    lines = (HERE / "test.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "file\tline\tlabel\tprobability" and [int(line.split("\t")[1]) for line in lines[1:]] == list(range(2, 1002))
    labels, probabilities = (numpy.array([float(line.split("\t")[at]) for line in lines[1:]]) for at in (2, 3))
    loss = -numpy.mean(labels * numpy.log(probabilities) + (1 - labels) * numpy.log(1 - probabilities))
    assert numpy.isclose(loss, summary["test_log_loss"], rtol=1e-4)


def test_variants():
    variants = [["--dense", "table"], ["--workers", "2", "--decay", "0.5", "--consistency", "cap(1)"], ["--technique", "localize"]]
    if WORLD.size == 1:
        variants[2:] = [["--bin-embeddings", "--dropout", "0.1"],
                        ["--shuffle", "300", "--rule", "adam", "--deep-rate", "0.01", "--wide-rate", "0.02"]]
    for arguments in variants:
        summary, _ = run(*COMMON, "--test-fraction", "0.3", *arguments)
        assert summary["test_auc"] > 0.84, (arguments, summary["test_auc"])
    if WORLD.size == 1:
        plain, _ = run(*COMMON, "--test", TEST, "--plain")
        managed, _ = run(*COMMON, "--test", TEST)
        assert abs(plain["test_auc"] - managed["test_auc"]) < 0.01


def test_resumed_training_is_the_same():
    folder = str(HERE / "checkpoints")
    options = ["--test", TEST, "--dropout", "0.2", "--technique", "static_partitioning"]
    whole, _ = run(*COMMON, *options, "--output", str(HERE / "whole.tsv"))
    learn = Trainer._learn

    def interrupted(self, worker, at, model, batch):
        learn(self, worker, at, model, batch)
        if self.epochs == 1 and self._positions[at] == 7:
            os.kill(os.getpid(), signal.SIGUSR1)
    Trainer._learn = interrupted
    try:
        _, text = run(*COMMON, *options, "--checkpoint-dir", folder, status=75)
    finally:
        Trainer._learn = learn
    assert "stopped: SIGUSR1" in text and "--resume continues from step 1" in text, text
    _, text = run(*COMMON, "--checkpoint-dir", folder, status=1)
    assert "has checkpoints: add --resume" in text
    _, text = run(*COMMON, *options, "--dim", "5", "--checkpoint-dir", folder, "--resume", status=1)
    assert "--dim is 5, but 4 in the checkpoint" in text, text
    resumed, _ = run(*COMMON, *options, "--checkpoint-dir", folder, "--resume", "--output", str(HERE / "resumed.tsv"))
    assert [record["samples"] for record in resumed["history"]] == [record["samples"] for record in whole["history"]]
    if WORLD.size == 1:
        assert (HERE / "whole.tsv").read_bytes() == (HERE / "resumed.tsv").read_bytes() and resumed["loss"] == whole["loss"]
    assert abs(resumed["test_auc"] - whole["test_auc"]) < 0.01
    predicted, _ = run("--predict", TEST, "--checkpoint-dir", folder, "--output", str(HERE / "predicted.tsv"))
    assert predicted["auc"] == resumed["test_auc"]
    assert (HERE / "predicted.tsv").read_bytes() == (HERE / "resumed.tsv").read_bytes()


def test_unlabelled_and_unseen():
    """--predict takes rows without labels, and categories that were never trained."""
    folder = str(HERE / "checkpoints")
    rows = pathlib.Path(TEST).read_text(encoding="utf-8").splitlines()[:20]
    if WORLD.rank == 0:
        (HERE / "new.csv").write_text("\n".join(row.rpartition(",")[0].replace("Private", "Moon") for row in rows) + "\n", encoding="utf-8")
    WORLD.barrier()
    summary, _ = run("--predict", str(HERE / "new.csv"), "--checkpoint-dir", folder, "--output", str(HERE / "new.tsv"))
    assert summary["samples"] == 19 and "auc" not in summary
    lines = (HERE / "new.tsv").read_text(encoding="utf-8").splitlines()[1:]
    assert len(lines) == 19 and all(line.split("\t")[2] == "" and 0 < float(line.split("\t")[3]) < 1 for line in lines)


def test_bad_input():
    bad = str(HERE / "bad.csv")
    header = pathlib.Path(TRAIN).read_text(encoding="utf-8").splitlines()[0]
    person = "39,Private,77516,HS-grad,9,Divorced,Sales,Unmarried,White,Male,{},0,40,Peru,{}\n"

    def refused(content, part, *more):
        if WORLD.rank == 0:
            pathlib.Path(bad).write_text(content, encoding="utf-8")
        WORLD.barrier()
        _, text = run(bad, *SCHEMA, *SMALL, *more, status=1)
        assert f"error: {part}" in text, (part, text)
    good = person.format(0, "<=50K") + person.format(1, ">50K")
    refused(f"{header}\n", f"{bad}: no rows to train")
    refused(f"{header}\n" + person.format(0, "<=50K") * 3, f"{bad}: all 3 labels are negative")
    refused("a,b\n1,2\n", f"{bad}: there is no column 'workclass'")
    refused(f"{header}\n{good}" * 1 + person.format("x", ">50K"), f"{bad}:4:11: capital-gain: 'x'")
    # Not in the rows of the first pass: while workers train.
    refused(f"{header}\n" + good * 4000 + person.format("inf", ">50K"), f"{bad}:8002:11: capital-gain: 'inf'", "--statistics-rows", "100")
    _, text = run(TRAIN, *SCHEMA, "--dim", "0", status=2)
    assert "error: --dim: '0'" in text or WORLD.rank > 0
    run(*COMMON, "--checkpoint-dir", str(HERE / "none"), "--rate", "1e9", status=1)
    run("--predict", TEST, "--checkpoint-dir", str(HERE / "none2"), status=1)
    # A rank without rows, and rows for fewer workers than there are.
    if WORLD.rank == 0:
        pathlib.Path(bad).write_text(f"{header}\n{good}", encoding="utf-8")
    WORLD.barrier()
    summary, _ = run(bad, *SCHEMA, *SMALL, "--workers", "3", "--test", bad)
    assert summary["history"][0]["samples"] == 2
