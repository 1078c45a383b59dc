"""What tests share: a comparison of some tenths of a second, and a capture."""

import struct
from pathlib import Path

SMALL = dict(cores=1, ports=1, placements=1, other_arrivals=0, limit_ms=4, trial_ms=1, rate=3, no_search=True, no_cache=True)


def capture(path: Path, frames: int = 40) -> Path:
    """A pcap file of UDP frames of a few flows."""
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    records = []
    for at in range(frames):
        payload = b"\0" * (22 + 40 * (at % 5))
        udp = struct.pack(">HHHH", 1000 + at % 7, 53, 8 + len(payload), 0) + payload
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, bytes([10, 0, 0, at % 7]), bytes([10, 1, 0, 1]))
        frame = bytes(12) + b"\x08\0" + ip + udp
        records.append(struct.pack("<IIII", 0, at, len(frame), len(frame)) + frame)
    path.write_bytes(header + b"".join(records))
    return path
