#!/usr/bin/env python3
"""Fails if an example of a guide is missing from the program that is built and run.

Usage: check_guide.py GUIDE.md PROGRAM.cc. White space is ignored.
"""
import pathlib
import re
import sys


def main():
    guide, program = (pathlib.Path(path).read_text() for path in sys.argv[1:])
    flat = " ".join(program.split())
    missing = [block for block in re.findall(r"```cpp\n(.*?)```", guide, re.DOTALL)
               if " ".join(block.split()) not in flat]
    for block in missing:
        print(f"{sys.argv[1]}: not in {sys.argv[2]}:\n{block}")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
