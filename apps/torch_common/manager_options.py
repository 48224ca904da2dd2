"""Options of the parameter manager in the command line of a program."""
import argparse
import os
import re

from .option_values import choice

TECHNIQUES = ("adaptive", "immediate", "relocation_only", "replication_only", "nups", "full_replication",
              "static_partitioning", "localize")
_CONSISTENCY = re.compile(r"eventual|bsp|sequential|(cap|ssp|essp)\(\d+\)|vap\([^,()]+(, ?strong)?\)|"
                          r"cvap\(\d+, ?[^,()]+(, ?strong)?\)")


def _assignment(text):
    name, equals, value = text.partition("=")
    if not equals or not re.fullmatch(r"(lapse|adapm)\.\w+", name.strip()):
        raise argparse.ArgumentTypeError(f"'{text}', expected NAME=VALUE, as lapse.domain=2 or adapm.technique=nups")
    return name.strip(), value.strip()


def _consistency(text):
    if not _CONSISTENCY.fullmatch(text):
        raise argparse.ArgumentTypeError(f"'{text}', expected eventual, sequential, bsp, cap(s), ssp(s), essp(s), vap(v) or cvap(s, v)")
    return text


def add_manager_options(command_line):
    """Adds --technique, --consistency and --set."""
    command_line.add("technique", choice(*TECHNIQUES), None,
                     "How keys are managed: adaptive needs no tuning, the others are for comparison "
                     "(default: that of ADAPM_TECHNIQUE, or adaptive)", metavar="NAME")
    command_line.add("consistency", _consistency, None,
                     "How old the updates of others may be that a worker does not see yet: eventual (default), cap(s), by s "
                     "clocks, bsp, ssp(s), essp(s), vap(v), cvap(s, v), or sequential; a clock is a batch")
    command_line.add("set", _assignment, None,
                     "Option of the parameter manager or its server, as lapse.domain=2; may be repeated", metavar="NAME=VALUE",
                     several=True)


def technique_of(options):
    """The technique that the options and the environment choose."""
    return options.technique or dict(options.set).get("adapm.technique") or os.environ.get("ADAPM_TECHNIQUE") or "adaptive"


def manager_options(options):
    """What lapse.torch.Context takes as options."""
    named = dict(options.set)
    if options.technique is not None:
        named["adapm.technique"] = options.technique
    return named


def table_options(options):
    """Arguments of a table for --consistency."""
    return {} if options.consistency is None else {"consistency": options.consistency}
