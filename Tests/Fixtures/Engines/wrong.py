"""The dictionary engine with one mistake, by the name that is its argument. `tidegauge conform` has to find each."""

import sys

sys.dont_write_bytecode = True
import dictionary as engine

mistake = sys.argv[1]
right = {name: getattr(engine, name) for name in ("changes", "commit", "deliver", "evaluate", "handle", "send")}
# Some mistakes are faults that the dictionary engine has itself.
engine.fault = mistake


class Memory:
    """State that a mistake needs beyond that of the dictionary."""

    last_operation = None
    last_writer = None
    rows_before = {}


memory = Memory()


def handle(request):
    operation = request["op"]
    goes_on = right["handle"](request)
    if mistake == "cancel-forgets-another" and operation == "cancel":
        for sub in list(engine.subs)[:1]:
            del engine.subs[sub]
    memory.last_operation = operation
    if mistake == "fails-at-the-end" and operation == "close" and engine.is_open:
        sys.exit(1)
    return goes_on


def evaluate(query):
    if mistake == "at-most":
        query = query | {"match": [[c, o, n + 1] if o == "<" else [c, o, n] for c, o, n in query["match"]]}
    found = right["evaluate"](query)
    sort = query.get("sort")
    if mistake == "sorts-as-text" and sort:
        found.sort(key=lambda row: str(row[2]), reverse=sort.startswith("-"))
    if mistake == "ignores-descending" and sort == "-score":
        found.reverse()
    return found


def changes(old, new):
    found = right["changes"](old, new)
    deletions, insertions = found["deletions"], found["insertions"]
    if mistake == "deletions-one-by-one":
        found["deletions"] = sorted({max(0, index - place) for place, index in enumerate(deletions)})
    if mistake == "insertions-descending":
        insertions.reverse()
    if mistake == "move-not-inserted":
        known = {row[0] for row in old}
        found["insertions"] = [index for index in insertions if new[index][0] not in known]
    if mistake == "move-as-modification" and found["moves"]:
        known, left = {row[0] for row in old}, {row[0] for row in new}
        found["modifications"] = sorted(
            found["modifications"] + [index for index in insertions if new[index][0] in known]
        )
        found["insertions"] = [index for index in insertions if new[index][0] not in known]
        found["deletions"] = [index for index in deletions if old[index][0] not in left]
        found["moves"] = 0
    if mistake == "modification-missed":
        found["modifications"] = found["modifications"][1:]
    return found


def deliver(sub, initial=False, late=False):
    if mistake == "no-initial" and initial:
        engine.subs[sub] = (engine.subs[sub][0], [list(row) for row in engine.evaluate(engine.subs[sub][0])])
        return
    if mistake == "skips-a-commit" and not initial and engine.version % 3 == 0:
        return
    # Only the first of several commits in a row is delivered.
    if mistake == "forgets-the-final-state" and not initial and memory.last_operation == "commit":
        return
    if mistake == "delivers-unchanged":
        late = True
    right["deliver"](sub, initial, late)


def send(message):
    if message.get("event") == "delivery":
        initial = message["initial"]
        if mistake == "first-is-an-update" and initial:
            message |= {"initial": False, "deletions": [], "insertions": [], "modifications": []}
        if mistake == "version-back" and not initial and engine.version % 3 == 0:
            message["version"] = 1
        if mistake == "version-before" and not initial:
            message["version"] -= 1
        if mistake == "version-ahead" and initial:
            message["version"] += 1
        if mistake == "old-rows" and not initial:
            message["rows"] = [row[:3] + [max(0, row[3] - 1)] for row in message["rows"]]
        if mistake == "initial-twice" and initial or mistake == "delivers-twice" and not initial:
            right["send"](message)
    right["send"](message)


def commit(request):
    if mistake == "lost-update" and memory.last_writer not in (None, request["writer"]):
        engine.rows = memory.rows_before
    if mistake == "same-version" and memory.last_writer not in (None, request["writer"]):
        engine.version -= 1
    memory.rows_before = engine.rows
    memory.last_writer = request["writer"]
    if mistake == "missing-row-ignored":
        present = set(engine.rows)
        kept = []
        for change in request["changes"]:
            if change[0] == "insert":
                present.add(change[1])
            if change[1] in present:
                kept.append(change)
        request["changes"] = kept
    try:
        reply = right["commit"](request)
    except engine.MissingRow as missing:
        if mistake == "partial-commit":
            keys = [change[1] for change in request["changes"]]
            request["changes"] = request["changes"][: keys.index(missing.args[0])]
            right["commit"](request)
        if mistake == "wrong-row-named":
            raise engine.MissingRow(missing.args[0] + 1)
        if mistake == "other-error":
            return {"error": {"code": "failed", "text": "it did not work", "definite": True}}
        raise
    if mistake == "done-before-begun":
        reply["begun"], reply["done"] = reply["done"], reply["begun"] - 1
    return reply


for hook in (changes, commit, deliver, evaluate, handle, send):
    setattr(engine, hook.__name__, hook)
engine.main()
