#!/usr/bin/env python3
"""Checks a trace and a CSV file that test_profile.c had written.

usage: check_profile.py TRACE CSV REGIONS FALLBACKS LAUNCHES
"""
import collections
import csv
import json
import sys

trace_path, csv_path = sys.argv[1:3]
regions, fallbacks, launches = map(int, sys.argv[3:6])

with open(trace_path) as file:
    events = json.load(file)["traceEvents"]
with open(csv_path, newline="") as file:
    reader = csv.DictReader(file)
    rows = list(reader)

assert reader.fieldnames == (
    "kind,name,label,thread,start_us,duration_us,bytes,grid,block,status"
).split(","), reader.fieldnames

kinds = collections.Counter((row["kind"], row["status"]) for row in rows)
assert kinds["region", "ok"] == regions, kinds
assert kinds["region", "fallback"] == fallbacks, kinds
assert kinds["kernel", "ok"] == launches, kinds
if regions:
    assert kinds["load", "ok"] == 1, kinds
    assert kinds["copy-in", "ok"] == 2 * regions, kinds
    assert kinds["copy-out", "ok"] == 2 * regions, kinds
    assert kinds["write-back", "ok"] == regions, kinds

# The trace tells the same.
spans = [event for event in events if event["ph"] == "X"]
names = {event["pid"]: event["args"]["name"]
         for event in events if event["ph"] == "M"}
assert set(names) == {1, 2}, names
assert len(spans) == len(rows), (len(spans), len(rows))
for span, row in zip(spans, rows):
    assert span["cat"] == row["kind"], (span, row)
    assert span["name"] == row["name"], (span, row)
    assert abs(span["ts"] - float(row["start_us"])) < 0.01, (span, row)
    assert abs(span["dur"] - float(row["duration_us"])) < 0.01, (span, row)
    on_device = row["kind"] in ("kernel", "copy-in", "copy-out")
    assert span["pid"] == (2 if on_device else 1), span

# Operations of a thread lie within one of its regions, and in order.
for row in rows:
    row["start"] = float(row["start_us"])
    row["end"] = row["start"] + float(row["duration_us"])
    assert row["start"] >= 0 and row["end"] >= row["start"], row
    if row["kind"] == "kernel":
        assert row["name"] in ("axpy", "fill"), row
        assert row["grid"] in ("8x1x1", "1x5x1"), row
        assert row["block"] in ("128x1x1", "8x4x1"), row
        assert row["label"].startswith("test.c:1"), row
    if row["kind"] == "region":
        assert row["name"] == 'a "strange", name\\', row
        assert row["status"] == "fallback" or int(row["bytes"]) > 0, row
for row in rows:
    if row["kind"] == "region":
        continue
    # An event's time on the host's clock is known to some microseconds.
    assert any(region["kind"] == "region"
               and region["thread"] == row["thread"]
               and region["start"] - 1000 <= row["start"]
               and row["end"] <= region["end"] + 1000
               for region in rows), row
