"""The summary."""
from torch_common.management_report import add_costs, add_management
from torch_common.manager_options import technique_of
from torch_common.summary import Summary


def _begun(world, options, data):
    summary = Summary()
    summary.add("model", f"{options.model}, {options.inputs} inputs", "model")
    summary.add("ranks", world.size, "ranks")
    summary.add("workers", world.size * options.workers, "workers")
    graph = data.graph
    for name in ("nodes", "edges", "self_loops", "duplicates", "isolated_nodes"):
        summary.add(name, getattr(graph, name))
    summary.add("classes", data.class_count)
    summary.add("absent_classes", len(data.absent_classes))
    return summary


def _add_results(summary, history):
    best = history.best
    summary.add("epochs", len(history.epochs), "epochs")
    summary.add("loss", history.epochs[-1]["loss"], "loss of the last epoch")
    if best["valid_accuracy"] is not None:
        summary.add("best_epoch", best["epoch"], "best epoch")
        summary.add("valid_accuracy", best["valid_accuracy"], "  validation accuracy")
    if best["test_accuracy"] is not None:
        summary.add("test_accuracy", best["test_accuracy"], "  test accuracy")
        summary.add("last_test_accuracy", history.epochs[-1]["test_accuracy"], "test accuracy of the last epoch")
    summary.add("history", history.epochs)


def summary_of(world, options, trainer, partition, ctx):
    """Of a training on the parameter manager. Collective."""
    summary = _begun(world, options, trainer.data)
    summary.add("partition", options.partition, "partition")
    summary.add("cut_share", partition.cut_share, "  edges between workers", f"{100 * partition.cut_share:.1f} %")
    _add_results(summary, trainer.history)
    statistics = ctx.manager.statistics()
    epochs = len(trainer.history.epochs)
    add_costs(summary, trainer.cost, epochs)
    add_management(summary, technique_of(options), trainer.cost, statistics, epochs)
    summary.add("statistics", statistics)
    return summary


def plain_summary(world, options, data, trainer):
    """Of a training without one."""
    summary = _begun(world, options, data)
    _add_results(summary, trainer.history)
    seconds = sum(epoch["seconds"] for epoch in trainer.history.epochs) / len(trainer.history.epochs)
    summary.add("seconds_per_epoch", seconds, "time per epoch", f"{seconds:.5f} s")
    return summary
