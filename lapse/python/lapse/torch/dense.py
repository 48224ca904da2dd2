"""Dense parameters in a table."""
import numpy
import torch

import lapse


class DenseParameters:
    """The Parameters of a model in a table, as AdaPM trains them: in place of an all-reduce, workers pull them before a batch
    and push gradients after it, each at its own speed. Made between phases; collective.

    rule and further arguments: of lapse.Manager.create_table; the rule is the optimizer. chunk: elements of a row.
    """

    def __init__(self, context, name, model, *, rule="adagrad", chunk=1024, **named):
        self._context = context
        self._size = sum(parameter.numel() for parameter in model.parameters())
        if self._size == 0:
            raise lapse.ConfigurationError(f"the model of '{name}' has no Parameters")
        self._rows = -(-self._size // chunk)
        self._chunk = chunk
        self.scale = 1.0
        self.table = context.manager.create_table(name, keys=self._rows, length=chunk, rule=rule, **named)
        self._keys = numpy.arange(self._rows, dtype=numpy.uint64)
        context.add_module(self)

    def announce(self, start, end):
        """An intent for all of them."""
        self._context.worker.intent(self.table, range(self._rows), start, end)

    def initialise(self, model):
        """Sets the table from a model: called by one worker, before the others pull."""
        self._context.worker.set(self.table, self._keys, self._packed([p.detach() for p in model.parameters()]))

    def pull(self, model):
        """Copies the table into the model's Parameters."""
        values = torch.from_numpy(self._context.worker.pull(self.table, self._keys)).reshape(-1)
        at = 0
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.copy_(values[at:at + parameter.numel()].reshape(parameter.shape))
                at += parameter.numel()

    def push(self, model):
        """Pushes the gradients of the model's Parameters."""
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in model.parameters()]
        self._context.worker.push(self.table, self._keys, self._packed(gradients), self.scale)

    def _packed(self, tensors):
        packed = numpy.zeros(self._rows * self._chunk, numpy.float32)
        at = 0
        for tensor in tensors:
            packed[at:at + tensor.numel()] = tensor.cpu().reshape(-1).numpy()
            at += tensor.numel()
        return packed.reshape(self._rows, self._chunk)
