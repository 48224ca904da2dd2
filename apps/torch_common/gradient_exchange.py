"""Mean gradients of the dense parameters of all workers, and an agreement on the end of a phase in one all-reduce."""
import numpy
import torch


class GradientExchange:
    """Of one worker and its copy of the model. Every worker makes as many calls of exchange.

    Workers may have batches of different sizes, or none: gradients are weighted, for example by the number of samples.
    """

    def __init__(self, worker, model):
        self._worker = worker
        self._parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self._sums = numpy.zeros(sum(parameter.numel() for parameter in self._parameters) + 3)

    def exchange(self, weight, active, leave):
        """Sets each gradient to the weighted mean over all workers, which is the same everywhere.

        weight: of this worker's gradients; 0 without a batch. active: whether this worker may have more batches. leave:
        whether it asks all to end the phase. Returns (sum of the weights, whether any is active, whether any asks).
        """
        sums, at = self._sums, 0
        for parameter in self._parameters:
            size = parameter.numel()
            if weight == 0 or parameter.grad is None:
                sums[at:at + size] = 0
            else:
                numpy.multiply(parameter.grad.detach().reshape(-1).numpy(), weight, out=sums[at:at + size])
            at += size
        sums[at:] = weight, active, leave
        self._worker.all_reduce(sums)
        total = sums[at]
        if total > 0:
            sums[:at] /= total
        at = 0
        with torch.no_grad():
            for parameter in self._parameters:
                size = parameter.numel()
                if parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter)
                parameter.grad.copy_(torch.from_numpy(sums[at:at + size]).reshape(parameter.shape))
                at += size
        return float(total), bool(sums[at + 1] > 0), bool(sums[at + 2] > 0)
