"""A dictionary as an engine in a process of its own. It delivers rows and change sets. Its argument names a fault."""

import bisect
import json
import os
import subprocess
import sys
import time

fault = sys.argv[1] if len(sys.argv) > 1 else "none"
rows = {}
subs = {}
version = 1
commits = 0
deliveries = 0
begun = 0
is_open = False
counters = {"queries_evaluated": 0, "rows_read": 0}


def write(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def send(message):
    """Sends a message. With the fault `split`, more than 20 rows are sent in several lines."""
    part = 20
    if fault == "split" and len(message.get("rows", [])) > part:
        for start in range(0, len(message["rows"]) - part, part):
            rows_of_part = message["rows"][start : start + part]
            write(json.dumps(message | no_lists(message) | {"rows": rows_of_part, "more": True}) + "\n")
        start += part
        message = message | {"rows": message["rows"][start:]}
    write(json.dumps(message) + "\n")


def no_lists(message):
    return {name: [] for name in ("deletions", "insertions", "modifications") if name in message}


def evaluate(query):
    operators = {"=": lambda a, b: a == b, ">=": lambda a, b: a >= b, "<": lambda a, b: a < b}
    column = {"key": 0, "group": 1, "score": 2, "stamp": 3}
    found = [row for row in rows.values() if all(operators[o](row[column[c]], n) for c, o, n in query["match"])]
    sort = query.get("sort")
    if sort:
        found.sort(key=lambda row: row[column[sort.lstrip("-")]], reverse=sort.startswith("-"))
    counters["queries_evaluated"] += 1
    counters["rows_read"] += len(found)
    return found


def staying(places):
    """Returns the indices of a longest increasing subsequence."""
    ends, tails, before = [], [], []
    for index, place in enumerate(places):
        length = bisect.bisect_left(ends, place)
        ends[length:] = [place] + ends[length + 1 :]
        tails[length:] = [index] + tails[length + 1 :]
        before.append(tails[length - 1] if length else None)
    result, index = set(), tails[-1] if tails else None
    while index is not None:
        result.add(index)
        index = before[index]
    return result


def changes(old, new):
    old_places, new_places = {row[0]: i for i, row in enumerate(old)}, {row[0]: i for i, row in enumerate(new)}
    common = [row for row in old if row[0] in new_places]
    stays = staying([new_places[row[0]] for row in common])
    kept = {row[0] for index, row in enumerate(common) if index in stays}
    return {
        "deletions": [i for i, row in enumerate(old) if row[0] not in kept],
        "insertions": [i for i, row in enumerate(new) if row[0] not in kept],
        "modifications": [i for i, row in enumerate(new) if row[0] in kept and old[old_places[row[0]]] != row],
        "moves": len(common) - len(stays),
    }


def deliver(sub, initial=False, late=False):
    global deliveries
    query, shown = subs[sub]
    new = [list(row) for row in evaluate(query)]
    if not initial and new == shown and not late:
        return
    subs[sub] = (query, new)
    at = time.monotonic_ns()
    if fault == "future":
        at += 3_600_000_000_000
    if fault == "backwards" and not initial:
        at -= 3_600_000_000_000
    message = {"event": "delivery", "sub": sub, "at": at, "version": version, "initial": initial, "count": len(new)}
    if fault == "early-at" and not initial:
        message["at"] = begun - 1
    message |= {"rows": new} | (changes(shown, new) if not initial and fault != "no-lists" else {})
    deliveries += 1
    if fault == "swapped" and deliveries == 4:
        message["rows"] = new[1::-1] + new[2:]
    if fault == "no-rows":
        del message["rows"]
    if fault == "wrong-count":
        message["count"] += 1
    send(message)


class MissingRow(Exception):
    pass


def commit(request):
    global version, rows, begun
    begun = time.monotonic_ns()
    changed = {key: list(row) for key, row in rows.items()}
    for operation, key, *values in request["changes"]:
        if operation != "insert" and key not in changed:
            raise MissingRow(key)
        if operation == "insert":
            changed[key] = [key, values[0]["group"], values[0]["score"], values[0]["stamp"]]
        elif operation == "update":
            changed[key][2:] = [values[0].get("score", changed[key][2]), values[0]["stamp"]]
        else:
            del changed[key]
    rows = changed
    version += 1
    reply = {"version": version, "begun": begun, "done": time.monotonic_ns()}
    if fault == "past":
        reply["begun"] -= 3_600_000_000_000
    if fault == "no-version":
        del reply["version"]
    return reply


def misbehave(request):
    """Performs a fault of the third commit. Returns a reply that replaces that of the commit, or None."""
    if fault in ("die", "fork-dies"):
        sys.stderr.write("a last word\n")
        sys.exit(3)
    if fault == "killed":
        os.kill(os.getpid(), 9)
    if fault in ("silent", "half-line"):
        if fault == "half-line":
            write('{"re":')
        time.sleep(3600)
    if fault == "half-line-dies":
        write('{"re":')
        os._exit(0)
    if fault == "garbage":
        write("hello, world\n")
    if fault == "no-message":
        write("{}\n")
    if fault == "long-line":
        write("x" * (9 << 20))
        time.sleep(3600)
    if fault in ("error", "indefinite-error"):
        definite = fault == "error"
        return {"error": {"code": "busy", "text": "the store is busy", "definite": definite}}
    if fault == "closes-input":
        os.close(0)
        time.sleep(3600)
    if fault == "stray":
        send({"event": "delivery", "sub": 1_000_000, "at": time.monotonic_ns(), "count": 0})
    if fault == "wrong-id":
        send({"re": request["id"] + 1000})
    return None


def leave_a_process_behind():
    # The process leaves the session and the process group, and holds all three pipes.
    code = "import os, time\nif os.fork() == 0:\n  os.setsid()\n  time.sleep(3600)"
    subprocess.run([sys.executable, "-c", code])


def counted():
    if fault == "counter-falls":
        counters["rows_read"] = -commits
    return {name: count for name, count in counters.items() if fault != "counter-missing" or name != "rows_read"}


FACTS = {"durabilities": ["memory"], "changeSets": True, "shows": "rows", "advancesTogether": True}
FACTS["counters"] = ["Rows"] if fault == "bad-counter" else sorted(counters)
if fault == "no-counters":
    del FACTS["counters"]
if fault == "no-durability":
    FACTS["durabilities"] = []
if fault == "unknown-fact":
    FACTS["changesets"] = FACTS.pop("changeSets")
if fault == "unknown-word":
    FACTS["shows"] = "row"


def handle(request):
    """Answers a request. Returns whether another request may follow."""
    global commits, is_open, rows
    op, reply = request["op"], {}
    if op == "hello":
        reply = {"name": "dictionary", "engineVersion": "1", "runtime": "Python", "facts": FACTS}
        if fault == "bad-name":
            reply["name"] = "Dictionary One"
        if fault == "float":
            reply["measure"] = 1.5  # An unknown field may have any value.
        if fault == "no-facts":
            del reply["facts"]
    elif op == "open":
        is_open = True
        if fault.startswith("fork"):
            leave_a_process_behind()
    elif op == "load":
        rows |= {row[0]: row for row in request["rows"]}
    elif op == "commit":
        commits += 1
        if fault == "errors":
            sys.stderr.write("x" * 100_000 + "\nline %d\n" % commits)
        try:
            reply = (misbehave(request) if commits == 3 else None) or commit(request)
        except MissingRow as missing:
            key = missing.args[0]
            reply = {"error": {"code": "missing_row", "key": key, "text": f"no row {key}", "definite": True}}
    elif op == "subscribe":
        subs[request["sub"]] = (request["query"], [])
        if fault == "early":
            deliver(request["sub"], initial=True)
    elif op == "counters":
        reply = {"counters": counted()}
    elif op == "contents":
        reply = {"rows": evaluate(request["query"])}
    elif op == "cancel" and fault != "late":
        subs.pop(request["sub"], None)
    send({"re": request["id"]} | reply)
    if op == "commit" and "error" not in reply:
        for sub in subs:
            deliver(sub)
    elif op == "subscribe":
        deliver(request["sub"], initial=True)
    elif op == "cancel" and fault == "late":
        deliver(request["sub"], late=True)
        del subs[request["sub"]]
    elif op == "close":
        while fault == "stays" and is_open:
            time.sleep(3600)
        return False
    return True


def main():
    for line in iter(sys.stdin.readline, ""):
        if not handle(json.loads(line)):
            break


if __name__ == "__main__":
    main()
