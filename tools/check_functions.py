#!/usr/bin/env python3
"""Fails if a C++ function is longer than a screen.

Usage: check_functions.py FILE... Relies on formatted code: a function that starts at some column ends with a
lone brace at that column, and no line in between starts there.
"""
import pathlib
import re
import sys

LINES_MAX = 70
NOT_A_FUNCTION = re.compile(r"\s*(namespace|class|struct|enum|union|extern|public|private|protected)\b")


def blocks(lines, column):
    """The blocks that begin and end at a column: the numbers of their first and last lines."""
    start = None
    for number, line in enumerate(lines):
        text = line[column:]
        if line[:column].strip() or not text or text[0] in " #/":
            continue
        if text == "}":
            if start is not None:
                yield start, number
            start = None
        elif not text.startswith("}"):
            start = number


def main():
    bad = []
    for path in map(pathlib.Path, sys.argv[1:]):
        lines = path.read_text().splitlines()
        for column in (0, 2):
            for start, end in blocks(lines, column):
                is_text = 'R"' in lines[start]
                if end - start - 1 > LINES_MAX and not is_text and not NOT_A_FUNCTION.match(lines[start]):
                    bad.append(f"{path}:{start + 1}: {end - start - 1} lines, the limit is {LINES_MAX}")
    print("\n".join(bad), end="\n" if bad else "")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
