#!/usr/bin/env python3
"""frames.py write FILE ADDRESS BYTES COUNT [MTU]: a capture of COUNT UDP packets to ADDRESS in frames of BYTES, or in
fragments for an MTU. frames.py check FILE BYTES: whether a capture has such packets, whole or all fragments of each, with right
checksums of IP; prints how many packets and how many frames."""
import collections
import socket
import struct
import sys

import pcap

ETHER = 14
ENOUGH = 2000  # packets of a capture that are looked at


def payload(number, length):
    return bytes((number * 31 + at * 7 + (at >> 8)) & 0xFF for at in range(length))


def frame(address, number, data, offset, more):
    group = address[0] >= 224
    to = b"\x01\0\x5e" + address[1:] if group else b"\x02\0\0\0\0\x01"
    fragment = offset // 8 | (0x2000 if more else 0)
    fields = (0x45, 0, 20 + len(data), number, fragment, 64, 17)
    source = bytes([198, 18, number >> 8 & 0xFF, number & 0xFF])
    ip = struct.pack(">BBHHHBBH4s4s", *fields, 0, source, address)
    ip = struct.pack(">BBHHHBBH4s4s", *fields, pcap.checksum(ip), source, address)
    return to + b"\x02\0\0\0\0\x02\x08\0" + ip + data


def write(path, address, size, count, mtu):
    def pieces():
        length, room = size - ETHER - 20, (mtu - 20) // 8 * 8
        for number in range(count):
            data = struct.pack(">HHHH", 1000 + number % 50000, 2000, length, 0) + payload(number, length - 8)
            for at in range(0, len(data), room):
                yield number, frame(address, number, data[at : at + room], at, at + room < len(data))

    pcap.write(path, pieces())


def check(path, size):
    want = size - ETHER - 20
    count, packets, open_ones = 0, 0, collections.defaultdict(dict)
    for one in pcap.frames(path):
        ip, count = one[ETHER : ETHER + 20], count + 1
        if pcap.checksum(ip) != 0:
            sys.exit(f"frame {count}: wrong checksum of IP")
        total, number, fragment = struct.unpack_from(">HHH", ip, 2)
        parts, offset = open_ones[number], (fragment & 0x1FFF) * 8
        if offset == 0:
            parts.clear()
        parts[offset] = one[ETHER + 20 : ETHER + total]
        if fragment & 0x2000:
            continue
        data = b"".join(parts[at] for at in sorted(parts))
        if len(data) != want:
            continue  # the capture begins or ends within it, or another fragment was dropped and counted
        if data[8:] != payload(number, want - 8):
            sys.exit(f"packet {number} came otherwise")
        packets += 1
        del open_ones[number]
        if packets == ENOUGH:
            break
    print(packets, count)


if sys.argv[1] == "write":
    more = int(sys.argv[6]) if len(sys.argv) > 6 else 65535
    write(sys.argv[2], socket.inet_aton(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), more)
else:
    check(sys.argv[2], int(sys.argv[3]))
