"""Options of every training with intents."""
from .option_values import file_name, integer


def add_training_options(command_line, *, epochs, lookahead):
    """Adds --workers, --epochs, --lookahead, --seed and --summary-json. epochs, lookahead: defaults."""
    command_line.add("workers", integer(1, 1024), 1, "Workers of each rank: threads", metavar="N")
    command_line.add("epochs", integer(1), epochs, "Passes over the data", metavar="N")
    command_line.add("lookahead", integer(1), lookahead, "Batches by which intents are ahead of their use", metavar="N")
    command_line.add("seed", integer(0, 2**32 - 1), 1, "Determines initial values and the order of the data", metavar="N")
    command_line.add("summary-json", file_name, None, "Write the summary to this file, as JSON", metavar="FILE")
