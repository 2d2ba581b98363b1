#!/usr/bin/env python3
"""check_hardening.py PROGRAM: checks that an ELF program was compiled and linked as cmake/hardening.cmake says."""
import platform
import re
import subprocess
import sys


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], check=True, capture_output=True, text=True).stdout


def main(program):
    header, segments = readelf("-h", program), readelf("-l", program)
    dynamic, symbols = readelf("-d", program), readelf("--dyn-syms", program)
    stack = re.search(r"GNU_STACK.*", segments)
    found = {
        "position-independent (PIE)": re.search(r"FLAGS_1.*PIE", dynamic) and re.search(r"Type:\s+DYN", header),
        "read-only relocations (RELRO)": "GNU_RELRO" in segments,
        "symbols resolved at the start (BIND_NOW)": re.search(r"FLAGS_1.*NOW|BIND_NOW", dynamic),
        "a stack that cannot be executed": stack and "RWE" not in stack[0],
        "stack protector": "__stack_chk_fail" in symbols,
        "_FORTIFY_SOURCE": re.search(r"__\w+_chk\b(?<!__stack_chk)", symbols),
    }
    if platform.machine() == "x86_64":
        # Each function that can be called indirectly begins with it.
        code = subprocess.run(["objdump", "-d", "--disassemble=main", program], check=True,
                              capture_output=True, text=True).stdout
        found["indirect branch tracking (-fcf-protection)"] = "endbr64" in code
    missing = [what for what, is_there in found.items() if not is_there]
    for what in missing:
        print(f"{program} lacks: {what}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
