"""Errors of the applications, and how all ranks learn of them."""
import lapse


class ApplicationError(lapse.Error):
    """An error that ends the program with the line `error: ...`. Raised on every rank, or by a worker."""


class OptionError(ApplicationError):
    """An option, or its value, that is not possible."""


class FileError(ApplicationError):
    """A file that cannot be used. The text begins with the place: file, or file:line, or file:line:column, from 1."""

    def __init__(self, file, problem, line=None, column=None):
        place = ":".join(str(part) for part in (file, line, column) if part is not None)
        super().__init__(f"{place}: {problem}")
        self.file, self.line, self.column, self.problem = file, line, column, problem

    def __reduce__(self):
        return FileError, (self.file, self.problem, self.line, self.column)


def on_every_rank(world, function):
    """Collective, between phases. Returns function(). If it raises an ApplicationError, OSError or MemoryError on some rank,
    every rank raises an ApplicationError: that of the lowest such rank, which is named unless all ranks have the error, or it is about
    a line of a file."""
    result, failure = None, None
    try:
        result = function()
    except ApplicationError as error:
        failure = error
    except (OSError, MemoryError) as error:
        failure = ApplicationError(str(error) or "out of memory")
    failures = world.allgather(failure)
    for rank, error in enumerate(failures):
        if error is None:
            continue
        if isinstance(error, FileError) and error.line is not None or all(str(other) == str(error) for other in failures):
            raise error
        raise ApplicationError(f"rank {rank}: {error}")
    return result


def on_rank_0(world, function):
    """Collective, between phases. Runs function() on rank 0 and returns its result on every rank. If it raises an
    ApplicationError or OSError, every rank raises the ApplicationError."""
    outcome = None
    if world.rank == 0:
        try:
            outcome = (function(), None)
        except ApplicationError as error:
            outcome = (None, error)
        except (OSError, MemoryError) as error:
            outcome = (None, ApplicationError(str(error) or "out of memory"))
    result, failure = world.bcast(outcome)
    if failure is not None:
        raise failure
    return result
