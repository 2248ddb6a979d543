#!/usr/bin/env python3
"""JSON documents against their schema below docs/, and the schema itself:
a document without any one of its members, with a member that the schema does not describe, or with
a value of another type must be refused, else the schema says less than it seems to.

usage: check_schema.py SCHEMA DOCUMENT...
"""
import copy
import json
import os
import sys

try:
    import jsonschema
except ImportError:
    # Another Python first in PATH does not see Debian's package.
    if not sys.executable.startswith("/usr/bin/") and os.access("/usr/bin/python3", os.X_OK):
        os.execv("/usr/bin/python3", ["/usr/bin/python3"] + sys.argv)
    sys.exit("check_schema: python3-jsonschema is missing: scripts/install installs it")

OPTIONAL = {"loop", "windows", "estimated", "estimated_low", "estimated_high", "gate_ns", "estimated_shut_gate_ns", "running_ns", "window_ns", "share_ppm", "pairs", "part_ppm", "part_low_ppm", "part_high_ppm",
             "reconciled", "cost", "busy", "busy_ago_ns", "since_change", "sample_since", "threads", "misuse", "p50_seconds", "lost", "thread", "thread_count",
            "references", "retained_by", "released_by",
            "netty_lives", "netty_bytes", "netty_used", "reserved",
            "thread_caches", "cached", "pinned_chunks", "pinned_bytes", "pinned_free", "pinned_by", "pins", "usage_of", "usage", "history", "growth", "compared", "used_direct", "direct_limit", "nio_reserved", "nio_limit", "nio_capacity", "nio_buffers",
            "contexts", "channel", "address", "caught_in", "line", "enclosing", "fingerprint", "owner", "parameter", "calls", "throws", "more_throws"}
# The same of the other formats.
OPTIONAL_OF = {"bbflow-check/1": {"before", "now", "difference_per_1000", "file", "line"},
               "bbflow-doctor/1": set()}
OPTIONAL_OF_SITES = {"name"}  # others' names are required


def closed(schema):
    """The schema with no room for members that it does not describe."""
    if isinstance(schema, dict):
        schema = {key: closed(value) for key, value in schema.items()}
        if "properties" in schema:
            schema["additionalProperties"] = False
    elif isinstance(schema, list):
        schema = [closed(value) for value in schema]
    return schema


def members(value, path=()):
    """The path of each member of each object; of an array, only the last row is looked into."""
    if isinstance(value, dict):
        for name, below in value.items():
            yield path + (name,)
            yield from members(below, path + (name,))
    elif isinstance(value, list) and value:
        yield from members(value[-1], path + (len(value) - 1,))


def parent_of(document, path):
    for step in path[:-1]:
        document = document[step]
    return document


def is_free(path):
    """Members whose names are data: options."""
    return path[0] in ("settings", "limits") and len(path) == 2


def changed(document, path, change):
    document = copy.deepcopy(document)
    change(parent_of(document, path), path[-1])
    return document


def remove(parent, name):
    del parent[name]


def rename(parent, name):
    parent[name + "_"] = parent[name]


def retype(parent, name):
    parent[name] = {} if not isinstance(parent[name], dict) else 0


def mutants(document, optional):
    for path in members(document):
        if not is_free(path):
            if path[-1] not in optional and not (path[0] == "sites" and path[-1] in OPTIONAL_OF_SITES):
                yield "without", path, changed(document, path, remove)
            yield "with an undescribed twin of", path, changed(document, path, rename)
        yield "with another type for", path, changed(document, path, retype)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    strict = jsonschema.Draft202012Validator(closed(schema))
    failures = refused = 0
    for name in sys.argv[2:]:
        with open(name, encoding="utf-8") as file:
            document = json.load(file)
        for error in strict.iter_errors(document):
            print(f"{name}: {'/'.join(map(str, error.absolute_path))}: {error.message}")
            failures += 1
        for what, path, mutant in mutants(document, OPTIONAL_OF.get(schema["title"], OPTIONAL)):
            # A reader must live with more members than it knows: there only the strict form says no.
            judge = strict if what.startswith("with an undescribed") else validator
            if judge.is_valid(mutant):
                print(f"{name}: {what} {'/'.join(map(str, path))}: the schema does not see it")
                failures += 1
            refused += 1
    print(f"{len(sys.argv) - 2} documents valid, {refused} changed ones refused" if failures == 0
          else f"{failures} failures")
    sys.exit(1 if failures or len(sys.argv) < 3 else 0)


main()
