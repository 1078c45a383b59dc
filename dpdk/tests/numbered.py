#!/usr/bin/env python3
"""numbered.py write FILE N | check FILE EARLY: a capture of N UDP frames of one flow that carry their number; or
whether the frames of a capture are in order, but for at most EARLY that their program says it sent out of order."""
import struct
import sys


def write(path, count):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for number in range(count):
            ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 50, 0, 0, 64, 17, 0, bytes([198, 18, 0, 1]), bytes([198, 18, 0, 2]))
            total = sum(struct.unpack(">10H", ip))
            total = (total & 0xFFFF) + (total >> 16)
            ip = ip[:10] + struct.pack(">H", ~(total + (total >> 16)) & 0xFFFF) + ip[12:]
            udp = struct.pack(">HHHH", 1000, 2000, 30, 0) + struct.pack(">Q", number) + bytes(14)
            frame = b"\x02\0\0\0\0\1\x02\0\0\0\0\2\x08\0" + ip + udp
            out.write(struct.pack("<IIII", number // 1_000_000, number % 1_000_000, len(frame), len(frame)) + frame)


def numbers(path):
    data = open(path, "rb").read()
    at = 24
    while at + 16 <= len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        if at + 16 + length > len(data):
            break  # the recorder was stopped in the middle of a frame
        yield struct.unpack_from(">Q", data, at + 16 + 42)[0]
        at += 16 + length


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
