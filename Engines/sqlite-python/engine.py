"""SQLite by the `sqlite3` module of Python's standard library, which has no update hook.

A thread with a connection of its own fetches every observed query again after a commit or a subscription. Commits in
between are coalesced. A query whose rows are the same is not delivered.
"""

import json
import os
import platform
import sqlite3
import sys
import threading
import time
import traceback

FACTS = {
    "durabilities": ["memory", "relaxed", "full"],
    "persists": True,
    "shows": "keys",
    "advancesTogether": True,
    "counters": ["queries_evaluated", "rows_read"],
    "remarks": ["fetches every observed query again after a commit", "'memory' is a WAL file on tmpfs"],
}
SYNCHRONOUS = {"memory": "OFF", "relaxed": "NORMAL", "full": "FULL"}
SCHEMA = """
    CREATE TABLE item (key INTEGER PRIMARY KEY, "group" INTEGER, score INTEGER, stamp INTEGER);
    CREATE INDEX item_score ON item (score);
    CREATE INDEX item_group ON item ("group");
    CREATE TABLE clock (version INTEGER);
    INSERT INTO clock VALUES (1);
"""
output = threading.Lock()


class Refused(Exception):
    """An error of a commit that changed nothing."""


def send(message):
    line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
    with output:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()


def send_list(message, name, values):
    """Splits a long list, because a line may have at most 8 MiB."""
    part = 100_000
    for start in range(0, max(1, len(values)), part):
        more = {"more": True} if start + part < len(values) else {}
        send(message | {name: values[start : start + part]} | more)


def connect(path, durability):
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = " + SYNCHRONOUS[durability])
    return connection


def select(query):
    conditions = [f'"{column}" {operator} {number}' for column, operator, number in query.get("match", [])]
    where = " WHERE " + " AND ".join(conditions) if conditions else ""
    sort = query.get("sort", "rowid")
    order = sort[1:] + " DESC" if sort.startswith("-") else sort
    return f'SELECT key, "group", score, stamp FROM item{where} ORDER BY {order}'


class Observer(threading.Thread):
    """Fetches and delivers. `lock` guards `subs` and `counters`, and is held during a delivery."""

    def __init__(self, connection):
        super().__init__(daemon=True)
        self.connection = connection
        self.lock = threading.Lock()
        self.changed = threading.Event()
        self.subs = {}
        self.counters = dict.fromkeys(FACTS["counters"], 0)

    def run(self):
        try:
            while True:
                self.changed.wait()
                self.changed.clear()
                with self.lock:
                    self.deliver()
        except BaseException:
            traceback.print_exc()
            os._exit(1)

    def deliver(self):
        self.connection.execute("BEGIN")
        (version,) = self.connection.execute("SELECT version FROM clock").fetchone()
        found = []
        for sub, (statement, shown) in self.subs.items():
            rows = self.connection.execute(statement).fetchall()
            self.counters["queries_evaluated"] += 1
            self.counters["rows_read"] += len(rows)
            if rows != shown:
                found.append((sub, statement, shown, rows, time.monotonic_ns()))
        self.connection.execute("COMMIT")
        for sub, statement, shown, rows, at in found:
            self.subs[sub] = (statement, rows)
            delivery = {"event": "delivery", "sub": sub, "at": at, "version": version, "initial": shown is None}
            send_list(delivery | {"count": len(rows)}, "keys", [row[0] for row in rows])


class Engine:
    observer = None

    def hello(self, request):
        versions = {"engineVersion": "SQLite " + sqlite3.sqlite_version, "runtime": "Python " + platform.python_version()}
        return {"name": "sqlite-python", "facts": FACTS} | versions

    def open(self, request):
        path = os.path.join(request["directory"], "store.db")
        self.writing = connect(path, request["durability"])
        self.writing.executescript(SCHEMA)
        self.observer = Observer(connect(path, request["durability"]))
        self.observer.start()
        return {}

    def load(self, request):
        self.writing.execute("BEGIN IMMEDIATE")
        self.writing.executemany("INSERT INTO item VALUES (?, ?, ?, ?)", request["rows"])
        self.writing.execute("COMMIT")
        return {}

    def writer(self, request):
        return {}

    def commit(self, request):
        begun = time.monotonic_ns()
        connection = self.writing
        connection.execute("BEGIN IMMEDIATE")
        locked = time.monotonic_ns()
        try:
            for change in request["changes"]:
                self.apply(change)
            connection.execute("UPDATE clock SET version = version + 1")
            (version,) = connection.execute("SELECT version FROM clock").fetchone()
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        done = time.monotonic_ns()
        self.observer.changed.set()
        return {"version": version, "begun": begun, "locked": locked, "done": done}

    def apply(self, change):
        operation, key, *values = change
        if operation == "insert":
            row = values[0]
            self.writing.execute(
                "INSERT INTO item VALUES (?, ?, ?, ?)", (key, row["group"], row["score"], row["stamp"])
            )
        else:
            if operation == "update":
                columns = ", ".join(f'"{column}" = {number}' for column, number in values[0].items())
                changed = self.writing.execute(f"UPDATE item SET {columns} WHERE key = ?", (key,)).rowcount
            else:
                changed = self.writing.execute("DELETE FROM item WHERE key = ?", (key,)).rowcount
            if changed != 1:
                raise Refused({"code": "missing_row", "key": key, "text": f"there is no row {key}", "definite": True})

    def subscribe(self, request):
        # The lock is held until the reply is sent, because the reply precedes the initial delivery.
        with self.observer.lock:
            self.observer.subs[request["sub"]] = (select(request["query"]), None)
            send({"re": request["id"]})
        self.observer.changed.set()

    def cancel(self, request):
        with self.observer.lock:
            del self.observer.subs[request["sub"]]
        return {}

    def counters(self, request):
        with self.observer.lock:
            return {"counters": dict(self.observer.counters)}

    def contents(self, request):
        send_list({"re": request["id"]}, "rows", self.writing.execute(select(request["query"])).fetchall())

    def close(self, request):
        if self.observer:  # A run begins with an engine that answers `hello` and is closed.
            with self.observer.lock:
                self.observer.subs.clear()
        return {}


engine = Engine()
for line in sys.stdin.buffer:
    request = json.loads(line)
    try:
        reply = getattr(engine, request["op"])(request)
        if reply is not None:
            send({"re": request["id"]} | reply)
    except Refused as refusal:
        send({"re": request["id"], "error": refusal.args[0]})
    if request["op"] == "close":
        break
