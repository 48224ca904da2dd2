"""The exceptions of the library; see lapse/core/error.hpp."""


class Error(Exception):
    """The base of all exceptions of the library."""

    __str__ = Exception.__str__  # that of KeyError shows quotes


class UsageError(Error):
    """A call that can never succeed as it was made."""


class KeyOutOfRange(UsageError, KeyError):
    """A key outside the table."""


class LengthMismatch(UsageError, ValueError):
    """A number of elements that does not match the keys."""


class NotFiniteUpdate(UsageError, ValueError):
    """A push or a set with an infinite or NaN element, of a table that refuses such elements."""


class IndexOutOfRange(UsageError, IndexError):
    """An index of an element that the key's value does not have."""


class ClosedError(UsageError):
    """A call after close()."""


class CollectiveMismatch(UsageError):
    """Ranks or workers made different calls."""


class ConfigurationError(Error, ValueError):
    """An invalid option or specification."""


class MpiStateError(Error):
    """MPI is not initialised or finalized, or its thread level is too low."""


class MpiError(Error):
    """An MPI call has failed."""


class OutOfMemory(Error, MemoryError):
    """Out of memory."""


class PeerFailed(Error):
    """Some rank has failed. On that rank, its cause is the worker's exception."""


class UserCodeFailed(Error):
    """A function of the application has failed at the owner of a key."""


class CheckpointError(Error):
    """A checkpoint cannot be read or written."""
