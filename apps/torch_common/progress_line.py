"""Reports the progress of a long computation."""
import fcntl
import struct
import sys
import termios


class ProgressLine:
    """On a terminal, overwrites one line; otherwise (a batch log) writes a line for each report. For rank 0."""

    def __init__(self, output=sys.stdout):
        self._output, self._shown = output, 0
        try:
            # Launchers such as mpirun give a rank a terminal without a size even if its output is redirected.
            size = struct.unpack("HHHH", fcntl.ioctl(output.fileno(), termios.TIOCGWINSZ, bytes(8)))
            self._is_terminal = size[1] != 0
        except (OSError, ValueError):
            self._is_terminal = False

    def report(self, text):
        """text: without line breaks."""
        if self._is_terminal:
            self._output.write("\r" + text.ljust(self._shown))  # Blanks overwrite the rest of a longer text.
            self._shown = max(self._shown, len(text))
        else:
            self._output.write(text + "\n")
        self._output.flush()

    def end(self):
        """Ends the line."""
        if self._shown:
            self._output.write("\n")
            self._shown = 0
        self._output.flush()
