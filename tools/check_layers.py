#!/usr/bin/env python3
"""Fails if a folder of src/ or apps/ includes a folder beside or above it.

Usage: check_layers.py PROJECT. Folders below doors/ and apps/ are siblings: none of them may
include another. A subfolder with its own line here is a separate layer.
"""
import pathlib
import re
import sys

# Folder: what it may include in addition to itself.
ALLOWED = {
    "base": "",
    "model": "base",
    "query": "base model",
    "request": "base model query",
    "storage": "base",
    "vector": "base model",
    "index": "base model storage vector",
    "documents": "base model storage",
    "execution": "base model query request storage vector index documents",
    "watch": "base model query request index documents execution",
    "transactions": "base model query request documents watch",
    "indexing": "base model query storage vector index documents execution",
    "expiry": "base model request storage index documents indexing",
    "commit": "base model request storage index documents watch transactions indexing",
    "engine": "base model query request storage vector index documents execution watch transactions "
              "indexing expiry commit",
    "http": "base",
    "access": "base model http",
    "rpc": "base http",
    "wire": "base model query request",
    "service": "base model query request documents watch engine http access rpc wire",
    "doors": "base model index documents expiry indexing engine http access rpc wire",
    "client": "base model query request",
    "client/embedded": "base model query request storage documents watch engine client",
    "client/remote": "base model query request wire client",
    "kit": "base",
    "kit/web": "base model client http kit",
    "kit/jobs": "base",
    "kit/outbound": "base kit kit/jobs",
    "kit/images": "base",
    "apps": "base model client http kit kit/web kit/jobs kit/outbound kit/images",
    "server": "base model storage index documents expiry indexing engine http access rpc wire service doors client "
              "client/embedded client/remote kit kit/web apps",
}
SIBLINGS = {"doors", "apps"}
THIRD_PARTY = {  # Include prefix: the only folders that may use it.
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
# What every test may include, and what the tests of a folder may include in addition to the folder's layers.
FOR_TESTS = {"storage/testing/temporary_folder.h"}
ALLOWED_IN_TESTS = {"apps": "client/embedded", "kit/outbound": "http", "wire": "engine",
                    "service": "engine"}
INCLUDE = re.compile(r'\s*#\s*include ["<]((?:[\w.]+/)*)([\w.]+)[">]')


def is_test(path):
    return path.name.endswith("_test.cc") or "testing" in path.parts


def sources(project):
    """Every file, with its path split into parts, as includes spell it."""
    for root, folder in ((project / "src", "."), (project, "apps")):
        for path in sorted([*(root / folder).rglob("*.h"), *(root / folder).rglob("*.cc")]):
            yield path, path.relative_to(root).parts


def layer_of(parts):
    """The most specific layer for the parts of a path; None if there is none."""
    for count in (2, 1):
        if "/".join(parts[:count]) in ALLOWED:
            return "/".join(parts[:count])
    return None


def violations(project):
    for path, here in sources(project):
        if len(here) == 1:
            continue  # src/hearth.h includes everything.
        layer = layer_of(here[:-1])
        if layer is None:
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
            target = layer_of(there)
            if target is None:
                continue
            sideways = target == layer and target in SIBLINGS and there[1:2] != list(here[1:2])
            allowed = ALLOWED[layer].split()
            if is_test(path):
                allowed += ALLOWED_IN_TESTS.get(layer, "").split()
            upward = target != layer and target not in allowed
            if upward or sideways:
                yield f"{path}:{number}: {'/'.join(here[:-1])} may not include {match[1]}"


def main():
    bad = list(violations(pathlib.Path(sys.argv[1])))
    print("\n".join(bad))
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
