"""Common parts of the package's tests."""
KEYS, LENGTH = 50, 3  # of most tables


def refused(kind, part, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except kind as error:
        assert part in str(error), (part, str(error))
        return error
    raise AssertionError(f"{call} did not raise {kind}")
