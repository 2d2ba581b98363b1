#!/usr/bin/env python3
"""Copies the headers that a program needs to use the C++ client: hearth.h and everything it includes.

Usage: public_headers.py SRC [OUT]. In OUT they include one another as "hearth/...", so that a program
needs one include folder and its own header names do not collide. Without OUT they are only checked: none may
be a test header, and none may define a macro that does not begin with HEARTH_.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.MULTILINE)


def closure(source):
    """Every header that hearth.h needs, as a path below `source`."""
    found, waiting = set(), ["hearth.h"]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += INCLUDE.findall((source / name).read_text())
    return sorted(found)


def faults(source, names):
    for name in names:
        if "/testing/" in name:
            yield f"{name} is for tests"
        for macro in MACRO.findall((source / name).read_text()):
            if not macro.startswith("HEARTH_"):
                yield f"{name} defines {macro}"


def main():
    source = pathlib.Path(sys.argv[1])
    names = closure(source)
    bad = list(faults(source, names))
    print("\n".join(bad), end="\n" if bad else "")
    if bad or len(sys.argv) < 3:
        return bool(bad)
    for name in names:
        target = pathlib.Path(sys.argv[2]) / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(INCLUDE.sub(r'#include "hearth/\1"', (source / name).read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
