"""Modules whose weights are tables."""
import numpy
import torch

import lapse

_INTEGERS = (torch.int64, torch.int32, torch.int16, torch.uint8, torch.int8)


class _Rows(torch.nn.Module):
    """What the modules have in common."""

    def __init__(self, context, name, num_embeddings, embedding_dim, *, padding_idx=None, rule="adagrad", initial=("normal", 0.0, 1.0),
                 out_dtype=None, fused=False, **parameters):
        super().__init__()
        if num_embeddings is None:
            keys = {"sparse": True}
        else:
            keys = {"keys": num_embeddings}
            if padding_idx is not None and padding_idx < 0:
                padding_idx += num_embeddings
            if padding_idx is not None and not 0 <= padding_idx < num_embeddings:
                raise lapse.ConfigurationError(f"padding_idx of '{name}' is {padding_idx}: expected 0 to {num_embeddings - 1}")
        if out_dtype is not None and not out_dtype.is_floating_point:
            raise lapse.ConfigurationError(f"out_dtype of '{name}' is {out_dtype}: expected a type of floating-point numbers")
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        self.context, self.out_dtype, self.fused, self.scale = context, out_dtype, fused, 1.0
        self.__dict__["shared"] = self  # of all copies; not a part of itself
        self._frozen = False
        self.table = context.manager.create_table(name, **keys, length=embedding_dim, rule=rule, initial=initial, **parameters)
        context.add_module(self)

    def __deepcopy__(self, memo):
        copy = type(self).__new__(type(self))
        torch.nn.Module.__init__(copy)
        copy.__dict__.update({name: value for name, value in self.__dict__.items() if not name.startswith("_") or name == "_frozen"})
        memo[id(self)] = copy
        return copy

    def requires_grad_(self, requires_grad=True):
        """False: its rows are constants, and step() pushes nothing."""
        self._frozen = not requires_grad
        return super().requires_grad_(requires_grad)

    def get_extra_state(self):
        """The rows are in checkpoints of the context, not in the state."""
        return {"table": self.table.name, "num_embeddings": self.num_embeddings, "embedding_dim": self.embedding_dim}

    def set_extra_state(self, state):
        if state != self.get_extra_state():
            raise lapse.ConfigurationError(f"the state of a module with {state}: expected {self.get_extra_state()}")

    def extra_repr(self):
        size = "any key" if self.num_embeddings is None else self.num_embeddings
        return f"'{self.table.name}', {size}, {self.embedding_dim}"

    # --- ids

    def _flat(self, ids):
        """The ids as int64, in memory, without gaps."""
        if not isinstance(ids, torch.Tensor):
            ids = torch.as_tensor(numpy.asarray(ids))
        if ids.dtype not in _INTEGERS:
            raise TypeError(f"ids of '{self.table.name}' are {ids.dtype}: expected integers, such as torch.int64")
        if ids.device.type != "cpu":
            self.context.warn("device", f"ids of '{self.table.name}' are on {ids.device}: they are copied to memory for each lookup")
            ids = ids.cpu()
        return ids.detach().reshape(-1).to(torch.int64).contiguous()

    def distinct_keys(self, ids):
        """The distinct ids as an array, without the padding."""
        keys = numpy.unique(self._flat(ids).numpy())
        return keys if self.padding_idx is None else keys[keys != self.padding_idx]

    # --- rows

    def rows(self, ids):
        """The rows of these ids, as a tensor without a gradient. Any ids, in any shape."""
        flat = self._flat(ids)
        rows = torch.empty(flat.numel(), self.embedding_dim)
        if flat.numel():
            self.context.worker.pull(self.table, flat.numpy(), rows.numpy())
        return rows.reshape(*torch.as_tensor(ids).shape, self.embedding_dim)

    def set_rows(self, ids, values):
        """Replaces rows."""
        flat = self._flat(ids)
        values = values.detach().to("cpu", torch.float32).reshape(flat.numel(), self.embedding_dim).contiguous()
        if flat.numel():
            self.context.worker.set(self.table, flat.numpy(), values.numpy())

    def _begin_rows(self, ids):
        return _PulledRows(self, self._flat(ids))

    def _learns(self):
        return self.training and not self._frozen and torch.is_grad_enabled()

    def _result(self, result, like):
        if self.out_dtype is not None:
            result = result.to(self.out_dtype)
        device = like.device if isinstance(like, torch.Tensor) else result.device
        return result if device == result.device else result.to(device)


class _PulledRows:
    """The distinct rows of a batch, which are on their way."""

    def __init__(self, module, flat):
        self.module = module
        # torch.unique takes six times as long.
        self.keys, places = numpy.unique(flat.numpy(), return_inverse=True)
        self.places = torch.from_numpy(places.reshape(-1))
        self.rows = torch.empty(len(self.keys), module.embedding_dim)
        self.padding = None  # the place of the padding in rows
        pulled, into = self.keys, self.rows
        if module.padding_idx is not None:
            at = int(numpy.searchsorted(self.keys, module.padding_idx))
            if at < len(self.keys) and self.keys[at] == module.padding_idx:
                self._move_padding_to_end(at)
                pulled, into = self.keys[:-1], self.rows[:-1]
        self.operation = module.context.worker.pull_async(module.table, pulled, into.numpy()) if len(pulled) else None

    def _move_padding_to_end(self, at):
        last = len(self.keys) - 1
        self.padding = last
        self.keys = numpy.append(numpy.delete(self.keys, at), self.module.padding_idx)
        self.places = torch.where(self.places == at, last, self.places - (self.places > at).long())
        self.rows[last] = 0

    def finish(self):
        if self.operation is not None:
            self.operation.wait()
        module = self.module
        if not module._learns():
            return self.rows
        leaf, keys, rows = self.rows, self.keys, self.rows
        if self.padding is not None:  # It has no gradient.
            leaf, keys = self.rows[:-1], self.keys[:-1]
        leaf.requires_grad_()
        if self.padding is not None:
            rows = torch.cat([leaf, torch.zeros(1, module.embedding_dim)])
        if module.fused:
            worker = module.context.worker
            leaf.register_hook(lambda gradient: _push(worker, module, keys, gradient))
        elif len(keys):
            module.context.thread.pulled.append((module, keys, leaf))
        return rows


def _push(worker, module, keys, gradient):
    if len(keys):
        worker.push(module.table, keys, gradient.detach().contiguous().numpy(), module.scale)


class Embedding(_Rows):
    """Rows of a table for ids, like torch.nn.Embedding. Made between phases; collective.

    context: a Context. name: of the table. num_embeddings: ids are 0 to num_embeddings - 1; None: any 64-bit ids, whose
    rows are made when they are first changed. embedding_dim: the length of a row. padding_idx: this id's row is zero
    and is never changed.
    rule: what step() does with gradients at the owner: sgd, adagrad, rowwise_adagrad, adam or ftrl, with its parameters
    by name (learning_rate=0.05). initial and further arguments: of lapse.Manager.create_table.
    out_dtype: results are cast to it, such as torch.bfloat16; tables are float32. fused: gradients are pushed within
    backward(), not by step(): no accumulation over several of them, no max_norm.
    In eval() or under torch.no_grad() rows are read only. Attribute scale: a factor of all pushes.
    """

    def forward(self, ids):
        """ids: integers of any shape. Returns their shape and embedding_dim. Raises lapse.KeyOutOfRange."""
        return self.begin(ids).finish()

    def begin(self, ids):
        """Starts to pull; finish() of the result returns what forward would."""
        return _EmbeddingLookup(self, ids)


class _EmbeddingLookup:
    def __init__(self, module, ids):
        self.module, self.ids = module, ids
        self.pulled = module._begin_rows(ids)

    def finish(self):
        rows = self.pulled.finish()
        shape = torch.as_tensor(self.ids).shape
        result = torch.nn.functional.embedding(self.pulled.places.reshape(shape), rows)
        return self.module._result(result, self.ids)


class EmbeddingBag(_Rows):
    """Sums or means of the rows of bags, like torch.nn.EmbeddingBag. mode: sum or mean; the others are those of Embedding."""

    def __init__(self, context, name, num_embeddings, embedding_dim, *, mode="sum", **named):
        if mode not in ("sum", "mean"):
            raise lapse.ConfigurationError(f"mode of '{name}' is {mode!r}: expected sum or mean")
        super().__init__(context, name, num_embeddings, embedding_dim, **named)
        self.mode = mode

    def forward(self, ids, offsets=None, per_sample_weights=None):
        """ids: a bag in each row, or with offsets all bags in one dimension, each from its offset on.

        per_sample_weights: a factor for each id (mode sum). Returns a row for each bag; zeros for an empty one.
        """
        return self.begin(ids, offsets, per_sample_weights).finish()

    def begin(self, ids, offsets=None, per_sample_weights=None):
        """Starts to pull; finish() of the result returns what forward would."""
        return _BagLookup(self, torch.as_tensor(ids), offsets, per_sample_weights)


class _BagLookup:
    def __init__(self, module, ids, offsets, weights):
        name = module.table.name
        if ids.dim() not in (1, 2) or (ids.dim() == 1) != (offsets is not None):
            raise lapse.ConfigurationError(f"ids of '{name}' have {ids.dim()} dimensions {'without' if offsets is None else 'and'} "
                                           "offsets: expected two dimensions, or one and offsets")
        if weights is not None and module.mode != "sum":
            raise lapse.ConfigurationError(f"per_sample_weights of '{name}', whose mode is {module.mode}: expected mode sum")
        if weights is not None and weights.shape != ids.shape:
            raise lapse.LengthMismatch(f"per_sample_weights of '{name}' have the shape {tuple(weights.shape)}: expected "
                                       f"{tuple(ids.shape)}")
        self.module, self.ids, self.offsets, self.weights = module, ids, offsets, weights
        self.pulled = module._begin_rows(ids)

    def finish(self):
        pulled = self.pulled
        rows = pulled.finish()
        offsets, weights = self.offsets, self.weights
        places = pulled.places
        if offsets is None:
            places = places.reshape(self.ids.shape)
        else:
            offsets = torch.as_tensor(offsets).to("cpu", torch.int64)
        if weights is not None:
            weights = weights.to("cpu", torch.float32)
        if not len(rows):
            count = len(self.ids) if offsets is None else len(offsets)
            return self.module._result(torch.zeros(count, self.module.embedding_dim), self.ids)
        result = torch.nn.functional.embedding_bag(places, rows, offsets, mode=self.module.mode, per_sample_weights=weights,
                                                   padding_idx=pulled.padding)
        return self.module._result(result, self.ids)
