"""Captures of frames, as DPDK's own driver reads and records them, and the checksum of IP headers."""
import struct


def frames(path):
    data = open(path, "rb").read()
    at = 24
    while at + 16 <= len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        if at + 16 + length > len(data):
            break  # the recorder was stopped in the middle of a frame
        yield data[at + 16 : at + 16 + length]
        at += 16 + length


def checksum(header):
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF


def write(path, all_frames):
    """One frame a microsecond."""
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for number, frame in all_frames:
            out.write(struct.pack("<IIII", number // 1_000_000, number % 1_000_000, len(frame), len(frame)) + frame)
