"""Command lines of programs with many ranks, and options in files."""
import argparse
import sys

import lapse

from .config_file import read_config
from .errors import OptionError


class Stop(Exception):
    """The program is to end with this exit status; what there was to say has been printed."""

    def __init__(self, status):
        super().__init__(status)
        self.status = status


class _Text(Exception):
    """Help or version was asked for."""


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise OptionError(message.removeprefix("argument "))


class _Show(argparse.Action):
    def __init__(self, option_strings, dest, text, **named):
        super().__init__(option_strings, dest, nargs=0, **named)
        self._text = text

    def __call__(self, parser, namespace, values, option_string=None):
        raise _Text(self._text())


class CommandLine:
    """The options of a program. The file of --config has lines `name = value`; the command line overrides them."""

    def __init__(self, description):
        self._parser = _Parser(description=description, add_help=False, allow_abbrev=False, argument_default=argparse.SUPPRESS,
                               formatter_class=lambda prog: argparse.HelpFormatter(prog, max_help_position=30, width=110))
        self._defaults = {}
        self.kinds = {}  # by name without dashes: the function that converts a value; None: a flag
        self.lists = set()  # names of options that may be given several times
        self._conditions = []
        self._parser.add_argument("-h", "--help", action=_Show, text=self._parser.format_help, help="Print this help and end")
        self._parser.add_argument("--version", action=_Show, text=lambda: f"lapse {lapse.__version__}\n",
                                  help="Print the version and end")
        self._parser.add_argument("--config", metavar="FILE",
                                  help="Read options from this file: lines `name = value`, `#` begins a comment")

    def add(self, name, kind=str, default=None, meaning="", *, metavar="VALUE", needs=None, several=False, default_text=None):
        """An option --name. kind: converts its text. needs: ("--other", function): without effect, and so an error, unless
        function(options) holds. several: it may be repeated, and its value is a list. default_text: as the user writes the default."""
        shown = "" if default is None or default == "" or several else f" (default: {default_text or _text_of(default)})"
        self._parser.add_argument(f"--{name}", type=kind, metavar=metavar, help=(meaning + shown).replace("%", "%%"),
                                  **({"action": "append"} if several else {}))
        self._keep(name, kind, [] if several else default, needs)
        if several:
            self.lists.add(name)

    def add_flag(self, name, meaning, *, needs=None):
        """An option without a value."""
        self._parser.add_argument(f"--{name}", action="store_true", help=meaning.replace("%", "%%"))
        self._keep(name, None, False, needs)

    def add_files(self, name, meaning):
        """Arguments that are no options: a list."""
        self._parser.add_argument(name, nargs="*", metavar=name.upper(), help=meaning)
        self._defaults[name] = []

    def _keep(self, name, kind, default, needs):
        self.kinds[name] = kind
        self._defaults[_attribute(name)] = default
        if needs is not None:
            self._conditions.append((name, *needs))

    def parse(self, arguments):
        """The options as a namespace, whose attribute `given` has the names of those that were given. Raises OptionError."""
        given = vars(self._parser.parse_args(arguments))
        config = given.pop("config", None)
        settings = {} if config is None else read_config(config, self)
        given = {name: value for name, value in given.items() if value != [] or name not in self._defaults}
        options = argparse.Namespace(**{**self._defaults, **settings, **given})
        options.given = frozenset(settings) | frozenset(given)
        for name, needed, is_met in self._conditions:
            if _attribute(name) in options.given and not is_met(options):
                raise OptionError(f"--{name} applies only with {needed}")
        return options

    def parse_on_all(self, arguments, world, check=lambda options: None):
        """Collective. check(options) may raise OptionError. Raises Stop on every rank if some rank cannot go on, or prints
        the help; the lowest such rank says why."""
        options, status, text = None, None, ""
        try:
            options = self.parse(arguments)
            check(options)
        except _Text as shown:
            status, text = 0, str(shown)
        except OptionError as error:
            status, text = 2, f"error: {error} (see --help)\n"
        for rank, (of_rank, _) in enumerate(world.allgather((status, text))):
            if of_rank is None:
                continue
            if rank == world.rank:
                output = sys.stdout if of_rank == 0 else sys.stderr
                output.write(text)
                output.flush()
            raise Stop(of_rank)
        return options


def _attribute(name):
    return name.replace("-", "_")


def _text_of(value):
    return ",".join(str(part) for part in value) if isinstance(value, tuple) else str(value)
