#!/usr/bin/env python3
"""kv_client.py ADDRESS PARTITIONS REQUESTS [SEED]: a client of the key-value store, some requests at a time; every
reply is held against what was put. It knows the format from its documentation (crates/packet/src/kv.rs) alone.
Prints what it saw; ends with an error for a wrong or a missing reply, or a store that hardly keeps anything."""
import random
import socket
import struct
import sys

HEADER = struct.Struct(">HBBBBHHHI")  # magic, version, operation, status, 0, key and value length, 0, number
MAGIC, VERSION, REPLY, FIRST_PORT = 0x4B56, 1, 128, 20000
GET, PUT, DELETE = 1, 2, 3
OK, NOT_FOUND, WRONG_PARTITION = 0, 1, 2
MIX, WORD = 0x9E3779B97F4A7C15, (1 << 64) - 1
WINDOW, TRIES = 16, 5


def hash_of(key):
    h = len(key)
    for at in range(0, len(key), 8):
        h = mix(h, int.from_bytes(key[at:at + 8].ljust(8, b"\0"), "little"))
    return mix(h, 0)


def mix(h, word):
    h = (h ^ word) * MIX & WORD
    return h ^ h >> 32


class Client:
    def __init__(self, address, partitions, seed):
        self.address, self.partitions, self.dice = address, partitions, random.Random(seed)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.settimeout(1)
        self.number = 0
        self.put = {}
        self.seen = {"put": 0, "hit": 0, "miss": 0, "deleted": 0, "strayed": 0, "repeated": 0}

    def ask(self, keys, operations, strays=0.0):
        """Sends one request for each key, all at once, some to a wrong partition, and checks their replies."""
        open_requests = {}
        for key, operation in zip(keys, operations):
            value = b""
            if operation == PUT:
                value = self.dice.randbytes(self.dice.choice([0, 1, 100, 1023, 1024]))
            self.number += 1
            header = HEADER.pack(MAGIC, VERSION, operation, 0, 0, len(key), len(value), 0, self.number)
            partition = (hash_of(key) >> 48) * self.partitions >> 16
            stray = self.partitions > 1 and self.dice.random() < strays
            to = (partition + stray) % self.partitions
            open_requests[self.number] = (operation, key, value, stray, header + key + value, to)
        for _ in range(TRIES):
            for *_, datagram, to in open_requests.values():
                self.socket.sendto(datagram, (self.address, FIRST_PORT + to))
            try:
                while open_requests:
                    self.check(self.socket.recv(2048), open_requests)
                return
            except TimeoutError:  # UDP may lose: ask again, as any request may be repeated
                self.seen["repeated"] += len(open_requests)
        sys.exit(f"no reply to {len(open_requests)} requests")

    def check(self, reply, open_requests):
        magic, version, operation, status, zero, key_len, value_len, rest, number = HEADER.unpack_from(reply)
        got = reply[HEADER.size:]
        assert (magic, version, zero, key_len, rest) == (MAGIC, VERSION, 0, 0, 0), reply
        assert value_len == len(got), reply
        if number not in open_requests:
            assert number <= self.number, f"a reply to nothing: {number}"
            return  # the second reply to a repeated request
        asked, key, value, stray, *_ = open_requests.pop(number)
        assert operation == asked | REPLY, (operation, asked)
        if stray:
            assert status == WRONG_PARTITION, status
            self.seen["strayed"] += 1
        elif asked == PUT:
            assert status == OK and not got, (status, got)
            self.put[key] = value
            self.seen["put"] += 1
        elif asked == GET:
            assert status in (OK, NOT_FOUND), status
            if status == OK:
                assert got == self.put.get(key), f"not what was put: {got[:40]}"
            self.seen["hit" if status == OK else "miss"] += 1
        else:
            assert status in (OK, NOT_FOUND), status
            self.put.pop(key, None)
            self.seen["deleted"] += 1

    def run(self, requests):
        keys = [self.dice.randbytes(self.dice.choice([1, 7, 8, 127, 128])) for _ in range(1000)]
        keys = list(dict.fromkeys(keys))
        for at in range(0, len(keys), WINDOW):  # another client may have been here before
            some = keys[at:at + WINDOW]
            self.ask(some, [DELETE] * len(some))
        while self.number < requests:
            some = self.dice.sample(keys, WINDOW)  # different ones: replies to one key would race
            self.ask(some, self.dice.choices([GET, PUT, DELETE], [10, 9, 1], k=WINDOW), strays=0.02)
        kept = [k for k in keys if k in self.put]
        before = self.seen["hit"]
        for at in range(0, len(kept), WINDOW):
            some = kept[at:at + WINDOW]
            self.ask(some, [GET] * len(some))
        print(f"{self.seen}, of {len(kept)} keys at the end {self.seen['hit'] - before} are there")
        if self.seen["hit"] - before < 0.99 * len(kept):
            sys.exit("the store hardly keeps anything")


if __name__ == "__main__":
    address, partitions, requests, *seed = sys.argv[1:]
    Client(address, int(partitions), int(seed[0]) if seed else 1).run(int(requests))
