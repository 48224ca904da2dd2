"""What a training has reached, epoch by epoch."""
import math

from torch_common.errors import ApplicationError


def mean_loss(losses, epoch, rate):
    """losses: the sum of losses and the number of nodes. Raises ApplicationError if the training has diverged."""
    loss = float(losses[0] / losses[1])
    if not math.isfinite(loss):
        raise ApplicationError(f"training diverged in epoch {epoch} with learning rate {rate:g}: the loss is not finite: choose a "
                               "smaller --rate")
    return loss


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
        accuracies = ((name, last.get(f"{name}_accuracy")) for name in ("train", "valid", "test"))
        parts += [f"{name} {accuracy:.4f}" for name, accuracy in accuracies if accuracy is not None]
        return ", ".join(parts)
