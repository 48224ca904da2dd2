"""What the columns of a file mean."""
import dataclasses
import fnmatch

from torch_common.errors import FileError

_SEPARATORS = {"comma": ",", "tab": "\t", "semicolon": ";", "space": " ", "bar": "|"}
_NAMES = frozenset({"separator", "header", "columns", "label", "positive", "negative", "missing", "categorical", "numeric",
                    "logarithm", "list", "sums", "list-separator", "ignored", "crosses", "group", "item", "target", "hash-buckets"})
LARGEST_ID = 2**63 - 1


@dataclasses.dataclass(frozen=True)
class Features:
    """The columns that the model gets, by name and in this order. sums: pairs of a numeric column, which is the sum of others, and
    the pattern of their names. crosses: tuples of names."""
    categorical: tuple
    numeric: tuple
    sums: tuple
    logarithm: tuple
    lists: tuple
    crosses: tuple


class Schema:
    """A file of lines `name = value`; docs/click-prediction.md lists the names. Raises FileError with the line.

    Attributes: text, of the file; separator, list_separator: characters; has_header, columns, label, positive, negative, missing,
    hash_buckets: 0 for ids of 63 bits; group, item, target: of a file with a line for each item, or None.
    """

    def __init__(self, path, text=None):
        self.path = path
        if text is None:
            try:
                with open(path, encoding="utf-8-sig") as file:
                    text = file.read()
            except (OSError, UnicodeDecodeError) as error:
                raise FileError(path, getattr(error, "strerror", None) or str(error)) from None
        self.text = text
        self._values, self._lines = {}, {}
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip() and line.strip()[0] not in "#;":
                self._add(line, number)
        self.separator = self._separator("separator", "comma")
        self.list_separator = self._separator("list-separator", "space")
        if self.separator == self.list_separator and self._values.get("list"):
            raise self._error("list-separator", "is the separator of the columns, too: expected another one")
        self.has_header = self._flag("header", True)
        self.columns = self._list("columns")
        if self.has_header == bool(self.columns):
            raise self._error("columns", "expected names of all columns for a file without a header, and for no other")
        self.missing = frozenset(self._values.get("missing", "").split()) | {""}
        self.hash_buckets = self._integer("hash-buckets", 0)
        self.group, self.item, self.target = (self._values.get(name) for name in ("group", "item", "target"))
        self._check_label()
        self._check_names()

    def _add(self, line, number):
        name, equals, value = (part.strip() for part in line.partition("="))
        if not equals:
            raise FileError(self.path, f"'{line.strip()}', expected a line `name = value`", number)
        if name not in _NAMES:
            raise FileError(self.path, f"there is no '{name}', but {', '.join(sorted(_NAMES))}", number)
        if name in self._values:
            raise FileError(self.path, f"{name} is set in line {self._lines[name]} already", number)
        self._values[name], self._lines[name] = value, number

    def _error(self, name, problem):
        return FileError(self.path, f"{name} {problem}", self._lines.get(name))

    def _separator(self, name, default):
        text = self._values.get(name, default)
        value = _SEPARATORS.get(text, text)
        if len(value) != 1 or value in "\"\n\r":
            raise self._error(name, f"is '{text}': expected {', '.join(_SEPARATORS)} or one character")
        return value

    def _flag(self, name, default):
        text = self._values.get(name, "true" if default else "false")
        if text not in ("true", "false"):
            raise self._error(name, f"is '{text}': expected true or false")
        return text == "true"

    def _integer(self, name, default):
        text = self._values.get(name, str(default))
        if not text.isdecimal() or int(text) > LARGEST_ID:
            raise self._error(name, f"is '{text}': expected an integer from 0")
        return int(text)

    def _list(self, name):
        names = [part.strip() for part in self._values.get(name, "").split(",")]
        if names == [""]:
            return ()
        if "" in names or len(set(names)) != len(names):
            raise self._error(name, "has an empty name, or one twice")
        return tuple(names)

    def _check_label(self):
        grouped = [name for name in ("group", "item", "target") if getattr(self, name) is not None]
        if grouped and len(grouped) < 3:
            raise self._error(grouped[0], "without the others of group, item and target")
        self.label = self._values.get("label")
        if grouped:
            forbidden = [name for name in ("label", "positive", "negative", "categorical", "numeric", "list", "crosses")
                         if name in self._values]
            if forbidden:
                raise self._error(forbidden[0], "applies only without group: the label is whether the group has the target")
            return
        if not self.label:
            raise FileError(self.path, "no line `label = column`")
        self.positive, self.negative = self._values.get("positive"), self._values.get("negative")
        if (self.positive is None) != (self.negative is None):
            raise self._error("positive" if self.negative is None else "negative", "without the other of positive and negative")
        if self.positive is None:
            self.positive, self.negative = "1", "0"
        if self.positive == self.negative:
            raise self._error("positive", "is negative, too")

    def _check_names(self):
        for name in ("categorical", "numeric", "logarithm", "list", "ignored", "sums"):
            self._list(name)
        for cross in self._list("crosses"):
            if len(self._cross(cross)) < 2 or "" in self._cross(cross):
                raise self._error("crosses", f"has '{cross}': expected names of columns with * between them")

    @staticmethod
    def _cross(text):
        return tuple(part.strip() for part in text.split("*"))

    def resolve(self, names, place):
        """The Features of a file with columns of these names; * in a name of the schema stands for any text. Raises FileError
        for columns that are missing or not in the schema. place: the file, for messages."""
        if self.group is not None:
            for name in (self.group, self.item):
                if name not in names:
                    raise _lacks(place, name, names)
            return Features((), (), (), (), (self.item,), ())
        roles = {}
        kinds = {}
        for kind in ("categorical", "numeric", "list", "ignored"):
            kinds[kind] = []
            for pattern in self._list(kind):
                found = [name for name in names if fnmatch.fnmatchcase(name, pattern) and name != self.label]
                if not found and pattern not in ("*",) and kind != "ignored":
                    raise _lacks(place, pattern, names)
                for name in found:
                    if roles.setdefault(name, kind) == kind and name not in kinds[kind]:
                        kinds[kind].append(name)
                    elif roles[name] != kind and "*" not in pattern:
                        raise self._error(kind, f"has '{name}', and {roles[name]} as well")
        sums = self._sums(names, place)
        unknown = [name for name in names if name not in roles and name != self.label
                   and not any(fnmatch.fnmatchcase(name, pattern) for _, pattern in sums)]
        if unknown:
            raise FileError(place, f"column '{unknown[0]}' is not in {self.path}: expected it among categorical, numeric, list or "
                                   "ignored (`ignored = *` for all others)", 1 if self.has_header else None)
        numeric = (*kinds["numeric"], *(name for name, _ in sums))
        logarithm = tuple(name for name in numeric
                          if any(fnmatch.fnmatchcase(name, pattern) for pattern in self._list("logarithm")))
        crosses = tuple(self._cross(text) for text in self._list("crosses"))
        for name in (name for cross in crosses for name in cross):
            if name not in kinds["categorical"] and name not in numeric:
                raise self._error("crosses", f"has '{name}', which is not categorical or numeric")
        features = Features(tuple(kinds["categorical"]), numeric, sums, logarithm, tuple(kinds["list"]), crosses)
        if not features.categorical and not features.numeric and not features.lists:
            raise FileError(self.path, "no categorical, numeric or list column")
        return features

    def _sums(self, names, place):
        found = []
        for text in self._list("sums"):
            name, _, pattern = (part.strip() for part in text.partition(":"))
            if not name or not pattern or name in names:
                raise self._error("sums", f"has '{text}': expected `name: columns`, with the name of no column")
            if not matching(names, pattern):
                raise _lacks(place, pattern, names)
            found.append((name, pattern))
        return tuple(found)


def matching(names, pattern):
    """The places of the names that match a pattern."""
    return [at for at, name in enumerate(names) if fnmatch.fnmatchcase(name, pattern)]


def _lacks(place, name, names):
    return FileError(place, f"there is no column '{name}', but {', '.join(names)}")
