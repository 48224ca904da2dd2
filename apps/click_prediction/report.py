"""Texts and results for the user."""
from torch_common.management_report import add_costs, add_management


def describe_problem(problem, workers):
    """A line about the data and the model."""
    encoder = problem.encoder
    deep = encoder.deep_width + encoder.lists
    return (f"{problem.rows} rows read for statistics, {100 * problem.base_rate:.3f} % positive; {encoder.wide_width + encoder.lists} weights and "
            f"{deep} embeddings of a sample, {encoder.numbers} numbers; {workers} workers")


def describe_epoch(record):
    """A line about an epoch, a dict of Trainer.history."""
    text = f"epoch {record['epoch']:4}  {record['seconds']:9.4f} s  loss {record['loss']:.5f}"
    if "test_log_loss" in record:
        text += (f"  test {record['test_log_loss']:.5f}  base {record['base_log_loss']:.5f}  AUC {record['test_auc']:.5f}"
                 f"  calibration error {record['calibration_error']:.5f}")
    return text


def add_to_epoch(record, quality):
    """Adds a quality of quality_of to a dict of Trainer.history."""
    record.update({"test_log_loss": quality["log_loss"], "base_log_loss": quality["base_log_loss"], "test_auc": quality["auc"],
                   "calibration_error": quality["calibration_error"]})


def add_quality(summary, quality, prefix):
    """Adds a quality of quality_of to a Summary. prefix: of the names, such as test_."""
    label = prefix.replace("_", " ")
    summary.add(f"{prefix}samples", quality["samples"], f"{label}samples")
    for name, text in (("log_loss", "log loss"), ("base_log_loss", "  of the base rate"), ("auc", "AUC"),
                       ("calibration_error", "expected calibration error")):
        summary.add(f"{prefix}{name}", quality[name], text if text.startswith(" ") else f"{label}{text}", f"{quality[name]:.5f}")
    summary.add(f"{prefix}calibration", quality["calibration"])
    for row in quality["calibration"]:
        summary.show(f"  {row['samples']} samples", f"predicted {row['predicted']:.5f}, observed {row['observed']:.5f}")


def add_training(summary, history, quality, cost, workers):
    """Adds what trainings with and without a manager have in common."""
    summary.add("workers", workers, "workers")
    summary.add("train_samples", history[-1]["samples"], "samples to train")
    summary.add("epochs", len(history), "epochs")
    summary.add("loss", history[-1]["loss"], "loss of the last epoch", f"{history[-1]['loss']:.5f}")
    if quality is not None:
        add_quality(summary, quality, "test_")
    summary.add("seconds", cost.seconds, "time of the training", f"{cost.seconds:.4f} s")
    summary.add("samples_per_second", sum(record["samples"] for record in history) / max(1e-9, cost.seconds), "samples",
                f"{sum(record['samples'] for record in history) / max(1e-9, cost.seconds):.0f} /s")


def add_manager(summary, technique, cost, statistics, history):
    """Adds the costs of a training on a manager."""
    add_costs(summary, cost, len(history))
    add_management(summary, technique, cost, statistics, len(history))
    summary.add("history", history)
    summary.add("statistics", statistics)
