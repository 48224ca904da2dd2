"""The results of a run, as a table and as JSON."""
import json
import math


class Summary:
    """Named results in the order of insertion. Results with a label are shown in the table."""

    def __init__(self):
        self.values = {}
        self._rows = []

    def add(self, name, value, label=None, shown=None):
        """value: a number, a text, None, or lists and dicts of them. shown: the value as printed in the table."""
        self.values[name] = value
        if label is not None:
            if shown is None:
                shown = f"{value:.4f}" if isinstance(value, float) else str(value)
            self._rows.append((label, shown))

    def show(self, label, shown):
        """Adds a row to the table alone."""
        self._rows.append((label, shown))

    def to_text(self):
        """The table, with two columns: label and value."""
        width = max((len(label) for label, _ in self._rows), default=0)
        return "".join(f"{label:<{width}}  {shown}\n" for label, shown in self._rows)

    def to_json(self):
        """One JSON object. Numbers that are not finite become null."""
        return json.dumps(_finite(self.values), indent=2) + "\n"


def _finite(value):
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    return value
