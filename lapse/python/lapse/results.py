"""Results of calls of the package, and some of their arguments."""
import collections
import typing


class MemoryUse(typing.NamedTuple):
    """Memory of this rank in bytes, including its part of the memory that a domain shares. slabs include values."""

    words: int  # slot words of keys, and lengths if keys have their own
    ownership: int  # the owner directory for keys whose home is this domain
    slabs: int  # committed for values and update rule state
    values: int  # used bytes of the slabs
    copies: int  # memory of replicas besides their slots
    buffers: int  # of a server: the most memory for messages

    @property
    def total(self):
        """All of it."""
        return self.words + self.ownership + self.slabs + self.copies + self.buffers


class TableLoad(typing.NamedTuple):
    """What to load of one table, by its name in the checkpoint. last_key is included; None: up to the largest key.

    state=False: without the update rule's state; the rule may differ from the saved one. convert: converts between float32
    and float64, and between int32 and int64.
    """

    table: str
    first_key: int = 0
    last_key: typing.Optional[int] = None
    state: bool = True
    convert: bool = False


class LoadedCheckpoint(collections.namedtuple("LoadedCheckpoint", ("step", "blob"))):
    """A pair of the step and its blob, with further attributes.

    ranks: how many saved it. per_worker, clocks: of all workers at the time of the save. problems: skipped newer
    checkpoints, each with the reason. only_local: the folder of all ranks lacks it. bytes_read: by this rank.
    """

    def __new__(cls, step, blob, **known):
        loaded = super().__new__(cls, step, blob)
        vars(loaded).update(known)
        return loaded
