"""Echo in Python: keeps no rows and answers at once. A run on it shows the cost of an engine in a process of its own
for Python.

`engine.py N` delivers lists of N indices, but no lists in the initial delivery.
"""

import json
import platform
import sys
import time

FACTS = {"durabilities": ["memory", "relaxed", "full"], "contents": False, "shows": "none"}
indices = list(range(int(sys.argv[1]))) if len(sys.argv) > 1 else []
subs = []
version = 1


def send(message):
    sys.stdout.buffer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
    sys.stdout.buffer.flush()


def deliver(sub, initial):
    lists = {} if initial else {"modifications": indices}
    at = time.monotonic_ns()
    send({"event": "delivery", "sub": sub, "at": at, "version": version, "initial": initial, "count": 0, **lists})


for line in sys.stdin.buffer:
    begun = time.monotonic_ns()
    request = json.loads(line)
    op, reply = request["op"], {"re": request["id"]}
    if op == "hello":
        reply |= {"name": "echo-python", "engineVersion": "1", "runtime": "Python " + platform.python_version()}
        reply["facts"] = FACTS
    elif op == "commit":
        version += 1
        reply |= {"version": version, "begun": begun, "done": time.monotonic_ns()}
    elif op == "cancel":
        subs.remove(request["sub"])
    send(reply)
    if op == "commit":
        for sub in subs:
            deliver(sub, False)
    elif op == "subscribe":
        subs.append(request["sub"])
        deliver(request["sub"], True)
    elif op == "close":
        break
