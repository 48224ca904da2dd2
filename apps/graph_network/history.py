"""What a training has reached, epoch by epoch."""


class History:
    """epochs: a dict for each, with epoch, seconds, loss and, where it was evaluated, the accuracies."""

    def __init__(self, epochs=()):
        self.epochs = list(epochs)

    def add(self, epoch, seconds, loss, accuracies):
        self.epochs.append({"epoch": epoch, "seconds": seconds, "loss": loss, **accuracies})

    @property
    def best(self):
        """The first epoch with the best accuracy on the validation nodes; without such nodes, the last one that was evaluated."""
        evaluated = [epoch for epoch in self.epochs if "test_accuracy" in epoch]
        if evaluated[-1]["valid_accuracy"] is None:
            return evaluated[-1]
        return max(evaluated, key=lambda epoch: (epoch["valid_accuracy"], -epoch["epoch"]))

    def text_of_last(self):
        """A line."""
        last = self.epochs[-1]
        parts = [f"epoch {last['epoch']}: {last['seconds']:.3f} s, loss {last['loss']:.4f}"]
        parts += [f"{name} {last[f'{name}_accuracy']:.4f}" for name in ("train", "valid", "test") if last.get(f"{name}_accuracy") is not None]
        return ", ".join(parts)
