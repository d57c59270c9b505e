#!/usr/bin/env python3
"""Runs the Python of Docs/report.md, as it stands there, and compares its answers with figures that this script
computes from metrics.csv with Python's own csv module.

    data_test.py DOCUMENT FOLDER      FOLDER has a run in Reports/latest

Each block that imports pandas or duckdb leaves three answers: `latency`, `drivers` and `rows`.
"""
import csv
import os
import re
import statistics
import sys


def blocks(readme):
    """The code of the document, by the library that it imports."""
    code = re.findall(r"^```python\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    return {name: text for text in code for name in ["pandas", "duckdb"] if f"import {name}\n" in text}


def expected(path):
    """The three answers: {group: figures in µs}, medians over trials and points."""
    found = {"latency": {}, "drivers": {}, "rows": {}}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["variant"] == "*" or row["value"] in ["", "n/a"]:
                continue
            engine = (row["scenario"], row["driver"])
            place = dict(part.split("=", 1) for part in row["variant"].split(";") if part)
            if row["metric"] == "end_to_end_latency" and row["statistic"] in ["p50", "p99"]:
                found["latency"].setdefault((*engine, row["statistic"]), []).append(float(row["value"]))
            if row["metric"] == "upkeep_cost":
                found["drivers"].setdefault((*engine, "value"), []).append(float(row["value"]))
                if "dataset.items" in place:
                    key = (int(place["dataset.items"]), row["driver"])
                    found["rows"].setdefault(key, []).append(float(row["value"]))
    return {
        name: {key: statistics.median(values) / 1000 for key, values in answer.items()}
        for name, answer in found.items()
    }


def flat(answer):
    """A frame of either library as {(group…, column): figure}."""
    if hasattr(answer, "fetchall"):
        frame = answer.df()
        indices = [name for name in frame.columns if name in ["scenario", "driver", "dataset.items"]]
        frame = frame.set_index(indices)
    else:
        frame = answer.to_frame() if answer.ndim == 1 else answer
    return {
        (*(index if isinstance(index, tuple) else (index,)), column): figure
        for index, figures in zip(frame.index.tolist(), frame.itertuples(index=False))
        for column, figure in zip(frame.columns, figures)
        if figure == figure
    }


def main():
    readme, folder = sys.argv[1:]
    with open(readme, encoding="utf-8") as file:
        code = blocks(file.read())
    assert sorted(code) == ["duckdb", "pandas"], f"blocks of {sorted(code)} in {readme}"
    os.chdir(folder)
    wanted = expected("Reports/latest/metrics.csv")
    held = 0
    for library, text in code.items():
        names = {}
        exec(compile(text, f"{readme}: {library}", "exec"), names)
        for answer, figures in wanted.items():
            found = flat(names[answer])
            assert figures and found.keys() == figures.keys(), f"{library}: {answer}: {found.keys() ^ figures.keys()}"
            for key, figure in figures.items():
                difference = abs(found[key] - figure)
                assert difference <= 1e-9 * abs(figure), f"{library}: {answer}: {key}: {found[key]}, not {figure}"
            held += 1
    print(f"{held} answers hold")


if __name__ == "__main__":
    main()
