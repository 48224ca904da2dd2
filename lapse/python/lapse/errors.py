"""The exceptions of the library, as lapse/core/error.hpp has them."""


class Error(Exception):
    """Of all exceptions of the library the base."""

    __str__ = Exception.__str__  # that of KeyError shows quotes


class UsageError(Error):
    """A call that can never succeed as it was made."""


class KeyOutOfRange(UsageError, KeyError):
    """A key outside the table."""


class LengthMismatch(UsageError, ValueError):
    """A number of elements that does not fit the keys."""


class NotFiniteUpdate(UsageError, ValueError):
    """A push or a set with an element that is infinite or not a number, of a table that refuses such elements."""


class ClosedError(UsageError):
    """A call after close()."""


class CollectiveMismatch(UsageError):
    """Ranks or workers made different calls."""


class ConfigurationError(Error, ValueError):
    """An option or a specification."""


class MpiStateError(Error):
    """MPI is not initialised, finalized, or its thread level is too low."""


class MpiError(Error):
    """A call of MPI has failed."""


class OutOfMemory(Error, MemoryError):
    """Memory that is not there."""


class PeerFailed(Error):
    """Some rank has failed. On that rank its cause is the exception of the worker."""


class UserCodeFailed(Error):
    """A function of the application has failed where a key is."""


class CheckpointError(Error):
    """A file of a checkpoint."""
