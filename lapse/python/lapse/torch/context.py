"""The manager that modules use, and the worker of each thread."""
import contextlib
import io
import threading
import warnings

import numpy
import torch

import lapse


class _Thread:
    """What a thread does in a phase: its worker, and the rows that forwards have pulled since the last step."""

    def __init__(self, worker):
        self.worker = worker
        self.pulled = []
        self.clock_of_step = worker.clock
        self.steps = 0  # since the clock advanced


class Context:
    """A parameter manager for the modules of one model, in a with block. Collective.

    communicator and options: of lapse.Manager. Modules are made before a phase; within a phase, each thread that trains is
    a worker. The manager attribute is the lapse.Manager.
    """

    _STEPS_WITHOUT_CLOCK = 1000

    def __init__(self, communicator=None, options=None):
        self.manager = lapse.Manager(communicator, options)
        self._threads = threading.local()
        self._warned = set()
        self._announces = False
        self._modules = {}
        self._checkpoints = {}

    def __enter__(self):
        self.manager.__enter__()
        return self

    def __exit__(self, *failure):
        self._checkpoints.clear()  # Modules refer to this object: it may stay in memory, and the lock of a folder with it.
        return self.manager.__exit__(*failure)

    rank = property(lambda self: self.manager.rank, doc="The number of this rank, from 0.")
    ranks = property(lambda self: self.manager.ranks, doc="The number of ranks.")

    # --- phases

    @contextlib.contextmanager
    def phase(self):
        """For a with block: this thread is the only worker of its rank. Collective, as is the end of the block.

        The manager's own thread answers other ranks while Python computes. Returns the lapse.Worker.
        """
        with self.manager.start_progress(1), self.manager.attach() as worker, self._bound(worker):
            yield worker

    def run(self, workers, function):
        """Runs function(worker) on this many threads of this rank. Collective. Each needs a model of its own for dense
        parameters (copy.deepcopy); copies of a module share its table."""

        def bound(worker):
            with self._bound(worker):
                function(worker)
        self.manager.run_workers(workers, bound)

    @contextlib.contextmanager
    def _bound(self, worker):
        self._threads.current = _Thread(worker)
        try:
            yield
            if self._threads.current.pulled:
                self.warn("pulled", "the phase ends with rows whose gradients were not pushed: step() was not called")
        finally:
            self._threads.current = None

    @property
    def thread(self):
        """This thread's state. Raises lapse.UsageError outside of a phase."""
        current = getattr(self._threads, "current", None)
        if current is None:
            raise lapse.UsageError("no phase runs in this thread: expected a call within Context.phase() or Context.run(); "
                                   "a worker of a DataLoader has no access to tables")
        return current

    @property
    def worker(self):
        """The lapse.Worker of this thread. Raises lapse.UsageError outside of a phase."""
        return self.thread.worker

    def warn(self, what, text):
        """Warns once for each kind of mistake."""
        if what not in self._warned:
            self._warned.add(what)
            warnings.warn(text, RuntimeWarning, stacklevel=4)

    # --- modules

    def add_module(self, module):
        """Called by the modules."""
        self._modules[module.table.name] = module

    def lookup(self, *of_modules):
        """The results of several modules: lookup((items, item_ids), (tags, tag_ids, offsets)). Their rows travel together.
        """
        begun = [module.begin(*inputs) for module, *inputs in of_modules]
        return tuple(lookup.finish() for lookup in begun)

    # --- training

    def announce(self, module, ids, start, end, read_only=False):
        """This thread will look up these ids while its clock is at least start and below end: an intent."""
        keys = module.distinct_keys(ids)
        self._announces = True
        if keys.size:
            self.worker.intent(module.table, keys, start, end, "read_only" if read_only else "read_write")

    def localize(self, module, ids):
        """Moves the rows of these ids to this rank, without waiting."""
        keys = module.distinct_keys(ids)
        if keys.size:
            self.worker.localize_async(module.table, keys)

    def advance_clock(self):
        """IntentLoader calls it for each batch."""
        self.worker.advance_clock()

    def step(self, scale=1.0, max_norm=None):
        """Pushes the gradients of all rows that forwards have pulled since the last step, once for each key, and waits.

        scale: of all pushes, for schedules of the learning rate; or a dict with a number for each module, which is
        multiplied by the module's attribute scale. max_norm: gradients are scaled down so that their L2 norm, over all
        tables and this worker's batch, is at most this. Returns the norm if max_norm is given, else None.
        """
        thread = self.thread
        self._check_clock(thread)
        gradients = self._gradients(thread)
        norm = None
        factor = 1.0
        if max_norm is not None:
            norm = float(sum(float(rows.double().pow(2).sum()) for _, rows in gradients.values()) ** 0.5)
            factor = min(1.0, max_norm / (norm + 1e-6))
        pushes = []
        for module, (keys, rows) in gradients.items():
            of_module = scale.get(module, 1.0) if isinstance(scale, dict) else scale
            pushes.append(thread.worker.push_async(module.table, keys, rows.numpy(), factor * of_module * module.scale))
        for push in pushes:
            push.wait()
        return norm

    def zero_grad(self):
        """Forgets the gradients since the last step."""
        self.thread.pulled.clear()

    def _gradients(self, thread):
        """{module: (distinct keys, gradients)}, and forgets the rows."""
        pulled, thread.pulled = thread.pulled, []
        parts = {}
        for module, keys, rows in pulled:
            if rows.grad is None:
                self.warn("unused", f"a forward of '{module.table.name}' in training mode without a backward before step(): "
                                    "call eval(), or use torch.no_grad(), where no gradients are wanted")
                continue
            parts.setdefault(module.shared, []).append((keys, rows.grad))
        return {module: _summed(of_module) for module, of_module in parts.items()}

    def _check_clock(self, thread):
        now = thread.worker.clock
        thread.steps = thread.steps + 1 if now == thread.clock_of_step else 0
        thread.clock_of_step = now
        if self._announces and thread.steps > self._STEPS_WITHOUT_CLOCK:
            self.warn("clock", f"{self._STEPS_WITHOUT_CLOCK} steps without advance_clock(): intents begin and end by the clock")

    # --- dense parameters

    def average_gradients(self, model):
        """Collective over all workers: averages the gradients of the model's Parameters. All workers must have made as many
        calls; a parameter without a gradient counts as zero."""
        self._combine([parameter.grad if parameter.grad is not None else _set_grad(parameter)
                       for parameter in model.parameters() if parameter.requires_grad])

    def _combine(self, tensors):
        if not tensors:
            return
        sums = numpy.concatenate([tensor.detach().cpu().double().reshape(-1).numpy() for tensor in tensors])
        self.worker.all_reduce(sums)
        sums /= self.worker.count
        _scatter(sums, tensors)

    def broadcast(self, model, root=0):
        """Collective over all workers: copies the Parameters and buffers of the model of the worker with index root."""
        tensors = [*model.parameters(), *model.buffers()]
        if not tensors:
            return
        values = numpy.concatenate([tensor.detach().cpu().double().reshape(-1).numpy() for tensor in tensors])
        self.worker.broadcast(values, root)
        _scatter(values, tensors)

    # --- checkpoints

    def save(self, folder, step, state=None, keep=2):
        """Collective, between phases. Saves the tables of all modules, and what torch.save can save: a state of rank 0."""
        blob = io.BytesIO()
        if self.rank == 0:
            torch.save(state, blob)
        self._of_folder(folder, keep).save(step, blob.getvalue())

    def load(self, folder, step=None, keep=2):
        """Collective, between phases. Loads the newest checkpoint, or that of a step, saved by any number of ranks.

        Returns the step and the state. Raises lapse.CheckpointError if there is none.
        """
        number, blob = self._of_folder(folder, keep).load(step)
        return number, torch.load(io.BytesIO(blob), map_location="cpu")

    def _of_folder(self, folder, keep):
        key = (str(folder), keep)
        if key not in self._checkpoints:
            self._checkpoints[key] = (self.manager.checkpoints(str(folder), keep=keep), set())
        checkpoints, added = self._checkpoints[key]
        for name, module in self._modules.items():
            if name not in added:
                checkpoints.add(module.table)
                added.add(name)
        return checkpoints


def _set_grad(parameter):
    parameter.grad = torch.zeros_like(parameter)
    return parameter.grad


def _scatter(values, tensors):
    at = 0
    with torch.no_grad():
        for tensor in tensors:
            part = torch.from_numpy(values[at:at + tensor.numel()]).reshape(tensor.shape)
            tensor.copy_(part)
            at += tensor.numel()


def _summed(parts):
    """Distinct keys and the sums of their gradients."""
    if len(parts) == 1:
        keys, gradient = parts[0]
        return keys, gradient.detach().contiguous()
    keys, places = numpy.unique(numpy.concatenate([keys for keys, _ in parts]), return_inverse=True)
    sums = torch.zeros(len(keys), parts[0][1].shape[1])
    sums.index_add_(0, torch.from_numpy(places.reshape(-1)), torch.cat([gradient for _, gradient in parts]))
    return keys, sums
