#!/usr/bin/env python3
"""telemetry.py SOCKET COMMAND [FIELD...]: a DPDK process's answer to a telemetry command as JSON, or the
values of the named fields, one per line, the words of a list side by side."""
import json
import socket
import sys

with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as link:
    link.settimeout(10)
    link.connect(sys.argv[1])
    limit = json.loads(link.recv(1024))["max_output_len"]
    link.send(sys.argv[2].encode())
    answer = json.loads(link.recv(limit))
answer = answer[sys.argv[2].split(",")[0]]
if not sys.argv[3:]:
    print(json.dumps(answer))
for field in sys.argv[3:]:
    value = answer[field]
    print(*value if isinstance(value, list) else [value])
