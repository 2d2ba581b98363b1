#!/usr/bin/env python3
"""Checks that the benchmarks still compile, without generating code: a third of the time of building them.

Usage: tools/check_bench.py BUILD_FOLDER
"""
import concurrent.futures
import json
import pathlib
import re
import shlex
import subprocess
import sys


def check(entry):
    # Without the compiler cache, which does not know such a command, and without an output.
    command = re.sub(r"\s-o\s+\S+", "", re.sub(r"^\S*ccache\s+", "", entry["command"]))
    done = subprocess.run([*shlex.split(command), "-fsyntax-only"], cwd=entry["directory"], text=True,
                          capture_output=True)
    return done.returncode, done.stderr


def main():
    entries = [entry for entry in json.loads((pathlib.Path(sys.argv[1]) / "compile_commands.json").read_text())
               if "/bench/" in entry["file"]]
    if not entries:
        raise SystemExit("check_bench: the build folder has no benchmarks")
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        results = list(threads.map(check, entries))
    for _, errors in results:
        sys.stderr.write(errors)
    return max(code for code, _ in results)


if __name__ == "__main__":
    sys.exit(main())
