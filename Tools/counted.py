#!/usr/bin/env python3
"""For Tools/prove-counted.sh: makes variants of the program that Tests/Fixtures/Compare/planted-instructions.patch plants
steps in, and reads comparisons by counts. Exits with 1, and a sentence, where something is not as it has to be."""

import argparse
import json
import os
import struct
import sys

MARKER = b"tidegauge-plant\0"
# The places of the table in their order: a role, and the function that burns for it.
PLANTED = {
    "writer": "DrivenLiveStore.makeWriter",
    "upkeep": "Upkeep.publish",
    "observer": "LiveConnection.accept",
}
# Instructions per step and commit: two where every commit comes by once, none where what was planted does not run.
LEAST_PER_STEP = 0.5


def fail(sentence):
    sys.exit(f"counted: {sentence}")


def report(run):
    with open(f"{run}/compare.json") as file:
        return json.load(file)


def figures(run):
    counted = report(run)["counted"]
    if not counted:
        fail(f"nothing was counted: see {run}/summary.md")
    return counted


def role(row):
    return row["metric"].removesuffix("_instructions")


def gate(row):
    return " ".join(filter(None, [row["scenario"], row["variant"]]))


def move(row):
    """The further of the two that have to be the same: the head, and the base counted again."""
    if row["base"] == 0:
        return 0 if row["head"] == row["again"] == 0 else float("inf")
    return max(abs(row[side] / row["base"] - 1) for side in ("again", "head"))


def percent(share):
    return f"{100 * share:.3f} %"


def plant(program, copy, steps):
    with open(program, "rb") as file:
        code = bytearray(file.read())
    found = code.count(MARKER)
    if found != 1:
        fail(f"{program} has the marker of the planted table {found} times, not once: build it with the patch")
    struct.pack_into("<3I", code, code.find(MARKER) + len(MARKER), *steps)
    os.makedirs(os.path.dirname(copy), exist_ok=True)
    with open(copy, "wb") as file:
        file.write(code)
    os.chmod(copy, 0o755)


def executable(run):
    print(report(run)["base"]["executable"])


def steps(run, wanted, share, planted):
    """Prints how many steps make a role's instructions more by a share, from a comparison whose head burns `planted`."""
    rows = [row for row in figures(run) if role(row) == wanted]
    if len(rows) != 1:
        fail(f"{run}: the {wanted} was counted {len(rows)} times, not at one point")
    per_step = (rows[0]["head"] - rows[0]["base"]) / planted
    if per_step < LEAST_PER_STEP:
        fail(f"{planted} steps made the {wanted} execute {per_step * planted:.0f} more: they do not run there")
    print(round(share * rows[0]["base"] / per_step))


def moves(runs, limit):
    largest = {}
    for row in (row for run in runs for row in figures(run)):
        place = (gate(row), role(row))
        largest[place] = max(largest.get(place, 0), move(row))
    print(f"largest of {len(runs)} comparisons of a program with itself, of which {percent(limit)} are allowed:")
    for (name, wanted), largest_move in sorted(largest.items()):
        print(f"  {name:40} {wanted:9} {percent(largest_move):>9}")
    over = [f"{name} {wanted} {percent(value)}" for (name, wanted), value in largest.items() if not value <= limit]
    if over:
        fail("moved though nothing had changed: " + ", ".join(over))


def is_called(run, wanted):
    """Whether one role alone regressed, by the function planted in it; complains where it is less than that."""
    red = [row for row in figures(run) if row["verdict"] == "regressed"]
    if [role(row) for row in red] != [wanted]:
        print(f"  {run}: regressed: {', '.join(role(row) for row in red) or 'nothing'}", file=sys.stderr)
        return False
    first = (red[0]["causes"] or [{"function": "nobody"}])[0]["function"]
    if PLANTED[wanted] not in first:
        print(f"  {run}: {first} is named first, not {PLANTED[wanted]}", file=sys.stderr)
        return False
    return True


def changes(runs, wanted):
    found = [row["change"] for run in runs for row in figures(run) if role(row) == wanted]
    return f"{percent(min(found))} … {percent(max(found))}"


def power(wanted, large, small):
    called = sum(is_called(run, wanted) for run in large)
    false = [run for run in small if any(row["verdict"] == "regressed" for row in figures(run))]
    print(f"{wanted:9} {PLANTED[wanted]:28} counted {changes(large, wanted):21} called {called:2} of {len(large)}")
    print(f"{'':9} {'':28} counted {changes(small, wanted):21} called {len(false):2} of {len(small)}")
    if called < len(large) or false:
        fail(f"{wanted}: {len(large)} of {len(large)} were to be called, and 0 of {len(small)}")


def verdicts(run):
    for row in figures(run):
        print("counted", role(row), row["verdict"], percent(row["change"] or 0))
    for row in report(run)["rows"]:
        if row["isGate"]:
            print("clock", row["name"]["metric"], row["verdict"], percent(row.get("change", 0)))


def everything(run, seconds, limit):
    """All counted gates against themselves: how many there are, how far they move, and how long they took."""
    with open(f"{run}/comparison.ndjson") as file:
        plan = json.loads(file.readline())["plan"]
    writers = {
        (subject["scenario"], point["variant"]): point["writers"]["threads"]
        for subject in plan["subjects"]
        for point in subject["points"]
    }
    rows = figures(run)
    points = {(row["scenario"], row["variant"]) for row in rows}
    print(f"{len(rows)} gates at {len(points)} points of {len(plan['subjects'])} scenarios, twice each, in {seconds} s")
    for group, wanted in (("one writer", lambda count: count == 1), ("several", lambda count: count > 1)):
        for name in PLANTED:
            own = [
                row for row in rows if role(row) == name and wanted(writers[row["scenario"], row["variant"]])
            ]
            if own:
                worst = max(own, key=move)
                print(f"  {group:11} {name:9} {percent(move(worst)):>9} of {len(own)} at most: {gate(worst)}")
    if seconds > limit:
        fail(f"that took longer than {limit} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name, action, *arguments):
        sub = commands.add_parser(name)
        for flags, options in arguments:
            sub.add_argument(flags, **options)
        sub.set_defaults(action=action)

    some, many = {"type": int}, {"nargs": "*", "default": []}
    command("plant", plant, ("program", {}), ("copy", {}), ("steps", {"type": int, "nargs": 3}))
    command("executable", executable, ("run", {}))
    command("steps", steps, ("run", {}), ("wanted", {}), ("share", {"type": float}), ("planted", some))
    command("moves", moves, ("--limit", {"type": float, "required": True}), ("runs", many))
    command("power", power, ("wanted", {"choices": PLANTED}), ("--large", many), ("--small", many))
    command("verdicts", verdicts, ("run", {}))
    command("all", everything, ("run", {}), ("seconds", some), ("limit", some))
    options = vars(parser.parse_args())
    del options["command"]
    options.pop("action")(**options)


if __name__ == "__main__":
    main()
