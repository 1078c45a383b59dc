"""Runs pycachesim over a file of accesses: one LRU, write-back, write-allocate cache.

usage: pycachesim.py ACCESSES SETS WAYS
ACCESSES holds little-endian 32-bit words: line << 1 | write.
Prints misses (loads and stores alike) and dirty lines that were evicted.
"""

import sys
from array import array

from cachesim import Cache, CacheSimulator, MainMemory

LINE = 64


def main():
    path, sets, ways = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    accesses = array("I")
    with open(path, "rb") as f:
        accesses.frombytes(f.read())
    if sys.byteorder == "big":
        accesses.byteswap()

    memory = MainMemory()
    cache = Cache("cache", sets, ways, LINE, "LRU", write_back=True, write_allocate=True)
    memory.load_to(cache)
    memory.store_from(cache)
    simulator = CacheSimulator(cache, memory)
    for access in accesses:
        address = (access >> 1) * LINE
        # A store that hits leaves pycachesim's LRU order as it is: the load before it does not.
        simulator.load(address)
        if access & 1:
            simulator.store(address)
    print(cache.MISS_count, cache.EVICT_count)


main()
