"""What calls of the package give back, and what some of them take."""
import collections
import typing


class MemoryUse(typing.NamedTuple):
    """Bytes of this rank; of what the ranks of a domain share, its part. values are within slabs."""

    words: int  # slot words of keys, and lengths where keys have their own
    ownership: int  # owners of the keys whose home is this domain
    slabs: int  # committed for values and the state of update rules
    values: int  # used of the slabs
    copies: int  # what copies of keys take beside their slots
    buffers: int  # of a server: for messages, at most

    @property
    def total(self):
        """All of it."""
        return self.words + self.ownership + self.slabs + self.copies + self.buffers


class TableLoad(typing.NamedTuple):
    """What is loaded of one table, by its name in the checkpoint; last_key is included, None is the last one.

    state=False: without the state of the update rule, which may be another one. convert: float32 may become float64, int32
    int64, and the other way.
    """

    table: str
    first_key: int = 0
    last_key: typing.Optional[int] = None
    state: bool = True
    convert: bool = False


class LoadedCheckpoint(collections.namedtuple("LoadedCheckpoint", ("step", "blob"))):
    """A pair of the step and its blob, with what else is known of it.

    ranks: how many saved it. per_worker, clocks: of all workers that there were. problems: newer checkpoints that were
    passed over, each with the reason. only_local: the folder of all ranks does not have it. bytes_read: by this rank.
    """

    def __new__(cls, step, blob, **known):
        loaded = super().__new__(cls, step, blob)
        vars(loaded).update(known)
        return loaded
