#!/usr/bin/env python3
"""numbered.py write FILE N | check FILE EARLY: a capture of N UDP frames of one flow that carry their number; or
whether the frames of a capture are in order, but for at most EARLY that their program says it sent out of order."""
import struct
import sys

import pcap


def write(path, count):
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 50, 0, 0, 64, 17, 0, bytes([198, 18, 0, 1]), bytes([198, 18, 0, 2]))
    ip = ip[:10] + struct.pack(">H", pcap.checksum(ip)) + ip[12:]
    before = b"\x02\0\0\0\0\1\x02\0\0\0\0\2\x08\0" + ip + struct.pack(">HHHH", 1000, 2000, 30, 0)
    pcap.write(path, ((number, before + struct.pack(">Q", number) + bytes(14)) for number in range(count)))


def numbers(path):
    return (struct.unpack_from(">Q", frame, 42)[0] for frame in pcap.frames(path))


def check(path, early):
    seen = list(numbers(path))
    # The capture is played again and again: a step back by more than half of it is a new lap.
    back = [b - a for a, b in zip(seen, seen[1:]) if a - max(seen) // 2 < b <= a]
    print(f"{len(seen)} frames, {len(back)} out of order, {early} sent early")
    if not seen or len(back) > early:
        sys.exit("frames are out of order")


if sys.argv[1] == "write":
    write(sys.argv[2], int(sys.argv[3]))
else:
    check(sys.argv[2], int(sys.argv[3]))
