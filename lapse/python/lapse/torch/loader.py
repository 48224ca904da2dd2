"""Announces what batches will look up."""
import collections

import lapse


class IntentLoader:
    """Wraps an iterable of batches, such as a DataLoader: announces the ids of batches ahead, and advances the clock.

    context: a Context. loader: gives the batches of an epoch each time it is iterated. keys_of: {module: function}, where
    function(batch) returns the ids that the module will look up. ahead: in batches. negatives: Negatives, which are drawn for
    each batch. read_only: modules that only read. epochs: how many there will be, so that nothing is announced behind the
    last; None: unknown, and the batches ahead may belong to an epoch that never comes. localize: rows are localized instead, for
    the technique localize, which moves no row for an intent; only a few batches ahead, since other workers move them, too.
    Each batch is a clock of the worker. A DataLoader may have worker processes: batches come back to this process, which
    announces; a DataLoader's process has no access to tables.
    """

    def __init__(self, context, loader, keys_of, ahead=100, *, negatives=(), read_only=(), epochs=None, localize=False):
        if ahead < 1:
            raise lapse.ConfigurationError(f"ahead is {ahead}: expected 1 or more batches")
        self._context, self._loader, self._ahead = context, loader, ahead
        self._keys_of, self._negatives, self._read_only = dict(keys_of), tuple(negatives), frozenset(read_only)
        self._epochs_to_begin, self._localize = epochs, localize
        self._source = None
        self._is_empty = True  # this epoch, so far
        self._waiting = collections.deque()  # (batch, samples), or None between two epochs
        self._clock = None  # of the next batch to announce
        self._worker = None

    def __len__(self):
        return len(self._loader)

    def __iter__(self):
        """The batches of one epoch. The first batches of the next one may be announced meanwhile.

        A loop that ends early gives up the rest of its epoch.
        """
        worker = self._context.worker
        if worker is not self._worker:
            self._announce_again(worker)
        at_end = False
        try:
            while True:
                self._fill()
                entry = self._waiting.popleft() if self._waiting else None
                if entry is None:
                    at_end = True
                    return
                batch, samples = entry
                for negatives, sample in zip(self._negatives, samples):
                    negatives.use(sample)
                yield batch
                self._context.advance_clock()
        finally:
            if not at_end:
                self._give_up_epoch()

    def _announce_again(self, worker):
        """Of another phase: the intents of its worker have ended."""
        self._worker, self._clock = worker, worker.clock
        self._waiting = collections.deque(entry and self._announce(entry[0]) for entry in list(self._waiting))

    def _give_up_epoch(self):
        while self._waiting and self._waiting.popleft() is not None:
            pass
        if not self._waiting:
            self._source = None
        self._worker = None  # The clocks of what is announced are wrong now.

    def _fill(self):
        while sum(entry is not None for entry in self._waiting) < self._ahead:
            if self._source is None and not self._begin_epoch():
                return
            try:
                batch = next(self._source)
            except StopIteration:
                self._source = None
                self._waiting.append(None)
                if self._is_empty:
                    return
                continue
            self._is_empty = False
            self._waiting.append(self._announce(batch))

    def _begin_epoch(self):
        if self._epochs_to_begin == 0:
            return False
        source = iter(self._loader)
        if source is self._loader:  # Iterates once.
            self._epochs_to_begin = 1
        if self._epochs_to_begin is not None:
            self._epochs_to_begin -= 1
        self._source, self._is_empty = source, True
        return True

    def _announce(self, batch):
        now, self._clock = self._clock, self._clock + 1
        for module, ids_of in self._keys_of.items():
            if self._localize:
                self._context.localize(module, ids_of(batch))
                continue
            self._context.announce(module, ids_of(batch), now, now + 1, module in self._read_only)
        return batch, [negatives.prepare(now) for negatives in self._negatives]
