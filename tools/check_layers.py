#!/usr/bin/env python3
"""Fails when a folder of src/, or apps/, includes a folder that stands beside or above it.

Usage: check_layers.py PROJECT. Folders below doors/ and apps/ are siblings: none of them may
include another.
"""
import pathlib
import re
import sys

# Folder: what it may include besides itself.
ALLOWED = {
    "base": "",
    "model": "base",
    "storage": "base",
    "index": "base model storage vector",
    "vector": "base model",
    "query": "base model storage index vector",
    "watch": "base model index query",
    "engine": "base model storage index vector query watch",
    "http": "base",
    "wire": "base model index query watch engine",
    "service": "base model index query watch engine http wire",
    "doors": "base model index query engine http wire service",
    "client": "base model storage query watch engine wire",
    "kit": "base model client http",
    "apps": "base model client http kit",
    "server": "base model storage index query engine http wire service doors client kit apps",
}
SIBLINGS = {"doors", "apps"}
THIRD_PARTY = {  # Include prefix: the only folders that may see it.
    "rocksdb/": {"storage"},
    "nghttp2/": {"http"},
    "boost/": {"http", "server"},
    "google/": {"wire", "service", "doors", "client"},
    "curl/": {"client", "kit"},
    "date/": {"kit"},
    "hiredis/": {"apps"},
    "hnswlib/": {"vector"},
    "openssl/": {"watch"},
    "webp/": {"kit"},
    "libexif/": {"kit"},
    "nlohmann/": {"index", "wire", "doors", "client", "kit", "server", "apps"},
}
FOR_TESTS = {"storage/temporary_folder.h"}  # What every test may include.
INCLUDE = re.compile(r'\s*#\s*include ["<]((?:[\w.]+/)*)([\w.]+)[">]')


def is_test(path):
    return path.name.endswith("_test.cc") or "testing" in path.parts


def sources(project):
    """Every file, with the parts of its path as includes write it."""
    for root, folder in ((project / "src", "."), (project, "apps")):
        for path in sorted([*(root / folder).rglob("*.h"), *(root / folder).rglob("*.cc")]):
            yield path, path.relative_to(root).parts


def violations(project):
    for path, here in sources(project):
        if here[0] not in ALLOWED:
            yield f"{path}: folder {here[0]} has no line in check_layers.py"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match or not match[1]:
                continue
            if match[1] + match[2] in FOR_TESTS and is_test(path):
                continue
            for prefix, folders in THIRD_PARTY.items():
                if match[1].startswith(prefix) and here[0] not in folders:
                    yield f"{path}:{number}: {here[0]} may not include {prefix}"
            there = match[1].strip("/").split("/")
            if there[0] not in ALLOWED:
                continue
            sideways = there[0] == here[0] and there[0] in SIBLINGS and there[1:2] != list(here[1:2])
            upward = there[0] != here[0] and there[0] not in ALLOWED[here[0]].split()
            if upward or sideways:
                yield f"{path}:{number}: {'/'.join(here[:-1])} may not include {match[1]}"


def main():
    bad = list(violations(pathlib.Path(sys.argv[1])))
    print("\n".join(bad))
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
