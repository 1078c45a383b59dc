#!/usr/bin/env python3
"""transfer.py receive PORT | send ADDRESS PORT FILE: a file over TCP; the receiver prints its SHA-256."""
import hashlib
import socket
import sys

if sys.argv[1] == "receive":
    with socket.create_server(("", int(sys.argv[2]))) as server:
        server.settimeout(60)
        print("ready", flush=True)
        link, _ = server.accept()
        digest = hashlib.sha256()
        link.settimeout(60)
        while data := link.recv(1 << 16):
            digest.update(data)
        print(digest.hexdigest())
else:
    with socket.create_connection((sys.argv[2], int(sys.argv[3])), 30) as link, open(sys.argv[4], "rb") as file:
        link.settimeout(60)
        link.sendfile(file)
