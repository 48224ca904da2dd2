"""Seeds for parts of a program."""
import zlib

import numpy


def seed_of(seed, *parts):
    """An integer from 0 to 2^63 - 1 that depends on the seed and on all parts, which are integers or texts."""
    numbers = [seed, *(part if isinstance(part, int) else zlib.crc32(part.encode()) for part in parts)]
    return int(numpy.random.SeedSequence(numbers).generate_state(1, numpy.uint64)[0] >> numpy.uint64(1))
