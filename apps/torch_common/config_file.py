"""Options in files."""
import argparse
import difflib

from .errors import OptionError

_FLAGS = {"true": True, "on": True, "yes": True, "1": True, "false": False, "off": False, "no": False, "0": False}


def read_config(path, command_line):
    """{attribute: value} of the lines `name = value` of a file. Raises OptionError with file and line.

    Lines that begin with # or ; are comments.
    """
    try:
        with open(path, encoding="utf-8-sig") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"--config: {path}: {getattr(error, 'strerror', None) or error}") from None
    settings, first_lines = {}, {}
    for number, line in enumerate(lines, 1):
        line = line.strip()
        if line and line[0] not in "#;":
            try:
                _add(line, number, command_line, settings, first_lines)
            except OptionError as error:
                raise OptionError(f"{path}:{number}: {error}") from None
    return settings


def _add(line, number, command_line, settings, first_lines):
    name, equals, text = (part.strip() for part in line.partition("="))
    if not equals or not name or name.startswith("["):
        raise OptionError(f"'{line}' sets no option, expected a line `name = value`")
    if name not in command_line.kinds:
        near = difflib.get_close_matches(name, command_line.kinds, 1)
        raise OptionError(f"there is no option '{name}'" + (f", did you mean '{near[0]}'?" if near else ""))
    if name in first_lines and name not in command_line.lists:
        raise OptionError(f"{name} is set in line {first_lines[name]} already")
    first_lines.setdefault(name, number)
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    kind = command_line.kinds[name]
    if kind is None:
        if text.lower() not in _FLAGS:
            raise OptionError(f"{name}: '{text}', expected true or false")
        value = _FLAGS[text.lower()]
    else:
        try:
            value = kind(text)
        except argparse.ArgumentTypeError as error:
            raise OptionError(f"{name}: {error}") from None
    attribute = name.replace("-", "_")
    if name in command_line.lists:
        settings.setdefault(attribute, []).append(value)
    else:
        settings[attribute] = value
