"""Loads results files, and picks the times that figures show."""

import pandas as pd

from runner import store

NUMBERS = ("cold_s", "warm_median_s", "warm_min_s", "warm_max_s", "kernel_ms",
           "copy_in_ms", "copy_out_ms", "write_back_ms", "region_ms",
           "launches", "bytes_in", "bytes_out", "operations", "traffic",
           "us", "estimate_us")
DATASETS = ("MINI", "SMALL", "MEDIUM", "STANDARD", "LARGE", "EXTRALARGE")


class NoResults(Exception):
    """Files without a row."""


def _as_results(table):
    """A table of dynpar/dynpar.py or sweep.py with the columns of the runner's;
    others as they are."""
    if "estimate_us" in table:
        return table.assign(**{name: "" for name in store.COLUMNS
                               if name not in table}).assign(
                                   suite="sweep", config=table["block"])
    if "variant" not in table:
        return table
    merged = ("warp", "block", "grid", "auto")
    several = table.groupby("program")["graph"].transform("nunique") > 1
    return pd.DataFrame({
        **{name: table.get(name, "") for name in store.COLUMNS},
        "suite": "dynpar",
        "kernel": table["program"].where(
            ~several, table["program"] + "-" + table["graph"]),
        "dataset": table["size"],
        "config": ["agg-" * (name in merged) + name
                   for name in table["variant"]],
        "status": table["result"],
        "warm_median_s": pd.to_numeric(table["median_ms"]) / 1000})


def load(paths):
    """The rows of results files as one table. Numbers are numbers; `seconds`
    is the end-to-end time, warm where there is one. Rows of the same job: the
    last counts."""
    tables = [_as_results(pd.read_csv(path, dtype=str, keep_default_na=False))
              for path in paths]
    rows = pd.concat(tables, ignore_index=True).fillna("")
    if rows.empty:
        raise NoResults("no rows in " + ", ".join(map(str, paths)))
    for name in rows.columns.intersection(NUMBERS):
        rows[name] = pd.to_numeric(rows[name], errors="coerce")
    rows["seconds"] = rows["warm_median_s"].fillna(rows["cold_s"])
    return rows.drop_duplicates(
        ["gpu", "cpu", "suite", "kernel", "dataset", "type", "config"],
        keep="last")


def right(rows):
    """The rows with right results that ran where they should: with `@auto` the
    runtime may choose the original loops."""
    chosen = (rows["status"] == "host") & rows["config"].str.endswith("@auto")
    return rows[((rows["status"] == "ok") | chosen) &
                (rows["suite"] != "device")]


def rates(rows):
    """What the device can do: {"bandwidth": bytes/s, "double": operations/s,
    "float": operations/s}, those that were measured."""
    found = {}
    for _, row in rows[rows["suite"] == "device"].iterrows():
        if row["kernel"] == "copy":
            found["bandwidth"] = row["traffic"] / row["warm_median_s"]
        elif row["kernel"] == "fma":
            found[row["type"]] = row["operations"] / row["warm_median_s"]
    return found


def is_block(config):
    """Whether a configuration is a fixed thread block, such as 32x8."""
    parts = config.split("x")
    return 1 <= len(parts) <= 3 and all(part.isdigit() for part in parts)


def has_block(rows):
    """Which rows are of a fixed thread block, as a column of booleans."""
    return rows["config"].map(is_block).astype(bool)


def block_key(config):
    """Sorts blocks by threads, then by x."""
    parts = [int(part) for part in config.split("x")] + [1, 1]
    return parts[0] * parts[1] * parts[2], parts[0]


def where(rows):
    """A line that says what was measured, for a figure's foot."""
    parts = []
    for column, name in (("gpu", ""), ("driver", "driver "), ("cpu", ""),
                         ("llvm", "LLVM "), ("commit", "commit "),
                         ("date", "")):
        values = sorted(set(rows[column]) - {"none", ""}) \
            if column in rows else []
        if values:
            parts.append(name + ", ".join(values))
    return "; ".join(parts)
