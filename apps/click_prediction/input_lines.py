"""Lines of text files, plain or compressed, in parts for several readers."""
import dataclasses
import gzip
import itertools
import lzma
import os
import stat
import zlib

from torch_common.errors import FileError

BLOCK = 2048  # lines
_LONGEST_LINE = 1 << 20  # bytes
_MARK = b"\xef\xbb\xbf"  # byte order mark


@dataclasses.dataclass
class Block:
    """Lines as bytes, with their ends. line: the number of the first, from 1; None: unknown, its offset in bytes is `offset`."""
    lines: list
    line: int
    offset: int = 0

    def line_number(self, path, index):
        """Of the line with this index."""
        if self.line is None:
            with open(path, "rb") as file:
                self.line, left = 1, self.offset
                while left > 0:
                    piece = file.read(min(left, 1 << 20))
                    self.line, left = self.line + piece.count(b"\n"), left - len(piece)
        return self.line + index


def opener(path):
    """The function that opens the file for reading bytes, by its first bytes; open for a plain one. Raises FileError."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise FileError(path, "is no regular file: it is read several times")
        with open(path, "rb") as file:
            begin = file.read(6)
    except OSError as error:
        raise FileError(path, error.strerror) from None
    if begin == b"\xfd7zXZ\0":
        return lzma.open
    if begin[:2] == b"\x1f\x8b":
        return gzip.open
    for mark, name in ((b"\x28\xb5\x2f\xfd", "zstd"), (b"BZh", "bzip2"), (b"PK\3\4", "zip"), (b"\xff\xfe", "UTF-16"),
                       (b"\xfe\xff", "UTF-16")):
        if begin.startswith(mark):
            raise FileError(path, f"is {name}: expected text, plain or compressed by xz or gzip")
    return open


def first_line(path):
    """The first line as bytes; empty for an empty file. Raises FileError."""
    with opener(path)(path, "rb") as file:
        for line in _checked(path, file, 0):
            return line
    return b""


def _checked(path, file, before):
    """The lines of an open file, without a byte order mark. Raises FileError for damaged data, with the line. before: lines
    before the first."""
    number = before
    try:
        while line := file.readline(_LONGEST_LINE):
            number += 1
            if number == 1 and line.startswith(_MARK):
                line = line[len(_MARK):]
            if len(line) == _LONGEST_LINE:
                raise FileError(path, f"a line of {_LONGEST_LINE} bytes or more", number)
            yield line
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(path, f"the compressed data are damaged or cut off: {error}", number + 1) from None
    except OSError as error:
        raise FileError(path, error.strerror or str(error), number + 1) from None


def line_blocks(path, part, parts, skip_header, *, numbered=False):
    """Blocks of the lines of one of several parts, which together are the file without its header.

    A plain file is cut into ranges of bytes, of which each part reads its own. Of a compressed file, and with numbered, which gives
    every block a line number at once, each part reads all lines and takes every parts-th block. Raises FileError.
    """
    opens = opener(path)
    if opens is open and not numbered and parts > 1:
        yield from _range(path, part, parts, skip_header)
        return
    with opens(path, "rb") as file:
        lines = _checked(path, file, 0)
        at = 1
        if skip_header:
            next(lines, None)
            at = 2
        for number in itertools.count():
            if number % parts == part:
                block = list(itertools.islice(lines, BLOCK))
                count = len(block)
                if block:
                    yield Block(block, at)
            else:
                count = sum(1 for _ in itertools.islice(lines, BLOCK))
            if count < BLOCK:
                return
            at += count


def _range(path, part, parts, skip_header):
    """A line belongs to the part that has its first byte."""
    size = os.path.getsize(path)
    begin, end = size * part // parts, size * (part + 1) // parts
    with open(path, "rb") as file:
        if begin > 0:
            file.seek(begin - 1)
            file.readline()
        elif skip_header:
            file.readline()
        elif file.peek(len(_MARK)).startswith(_MARK):
            file.seek(len(_MARK))
        offset = at = file.tell()
        block = []
        for line in _checked(path, file, 1):
            if at >= end:
                break
            block.append(line)
            at += len(line)
            if len(block) == BLOCK:
                yield Block(block, None, offset)
                block, offset = [], at
        if block:
            yield Block(block, None, offset)
