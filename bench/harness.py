"""The measured servers, the load on them, and the tables of results."""
import contextlib
import datetime
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"
RESULTS = ROOT / "bench" / "results"
METHODS = "/google.firestore.v1.Firestore/"
CONNECTIONS = 4
# Of the cores: a server and its load compete for nothing if each has one. They share a single core.
LAST_CORE = os.cpu_count() - 1
HALVES = (f"0-{LAST_CORE // 2}", f"{min(LAST_CORE // 2 + 1, LAST_CORE)}-{LAST_CORE}")


class TooSlow(RuntimeError):
    """The server answered nothing during a measurement."""


class Server:
    """A server process; `with` starts it, waits until it listens, and stops it."""

    def __init__(self, name, command, address=None, log=None):
        self.name, self.command, self.address = name, command, address
        self.log = log  # A file for its standard error.

    def __enter__(self):
        started = time.monotonic()
        with open(self.log or os.devnull, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [str(part) for part in self.command], stdout=subprocess.PIPE, stderr=log,
                text=True, start_new_session=True)
        if self.address is None:
            line = self.process.stdout.readline()
            match = re.search(r"listening on (\S+)", line)
            if not match:
                raise RuntimeError(f"{self.name} did not start: {line!r}")
            self.address = match[1]
        wait_for_port(self.address)
        self.start_ms = (time.monotonic() - started) * 1000
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_mib(self):
        """Of the whole process group: the process may be a script that starts the server."""
        pages = 0
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                fields = stat.read_text().rsplit(")", 1)[1].split()
                if int(fields[2]) == self.process.pid:
                    pages += int((stat.parent / "statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def private_mib(self):
        """Without the pages of the program and its libraries. Of the server alone."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"RssAnon:\s+(\d+) kB", status)[1]) / 1024

    def peak_mib(self):
        """The peak since the last reset_peak(), of the server process alone."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024

    def reset_peak(self):
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")


def wait_for_port(address):
    host, port = address.rsplit(":", 1)
    deadline = time.monotonic() + 60
    while True:
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise RuntimeError(f"nothing listens on {address}") from None
            time.sleep(0.002)


def free_port():
    """For servers that cannot select one: below the ports that Linux hands out by default."""
    while True:
        port = random.randrange(16384, 32768)
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port


class Hearth(Server):
    def __init__(self, folder, *arguments, **options):
        super().__init__(*arguments, **options)
        self.folder = pathlib.Path(folder)

    def token(self):
        """The administrator's."""
        return (self.folder / "admin.token").read_text().strip()


def hearth(folder, log=None, cores=None):
    """`cores`: as for taskset; None: all."""
    return Hearth(folder, "hearth", [*on(cores), BUILD / "hearth", "serve", "--data", folder, "--listen",
                                     "127.0.0.1:0", "--log-level", "info" if log else "warning"],
                  log=log)


def on(cores):
    return [] if cores is None else ["taskset", "--cpu-list", cores]


def canned(messages):
    return Server("canned", [BUILD / "canned_server", "--loops", os.cpu_count(), "--answers", messages])


def emulator():
    """None if Google's emulator is not installed."""
    installed = subprocess.run(["dpkg", "-s", "google-cloud-cli-firestore-emulator"],
                               capture_output=True).returncode == 0
    if not installed or not shutil.which("java"):
        return None
    port = free_port()
    return Server("emulator", [ROOT / "tools" / "official-emulator", port], f"127.0.0.1:{port}")


def run_load(server, method, messages, seconds, connections, in_flight, *arguments, cores=None):
    """The report of the native load generator."""
    output = subprocess.run(
        [*on(cores), BUILD / "hearth_load", "--address", server.address, "--path", METHODS + method,
         "--connections", str(connections), "--streams", str(-(-in_flight // connections)),
         "--threads", "1", "--seconds", str(seconds), "--messages", messages,
         "--header", "authorization:Bearer owner", *map(str, arguments)],
        check=True, capture_output=True, text=True).stdout
    return json.loads(output)


def load(server, method, messages, seconds, in_flight, requests=0):
    """A load that the server answers without errors, plus the server's CPU time per request. Ends
    after `requests`, unless 0."""
    cpu_before = server.cpu_seconds()
    report = run_load(server, method, messages, seconds, min(in_flight, CONNECTIONS), in_flight,
                      "--requests", requests)
    if report["errors"]:
        raise RuntimeError(f"{server.name} answered {method} with errors: {report['errors']}")
    if not report["requests"]:
        raise TooSlow(f"{server.name} answered no {method} in time")
    report["cpu_micros"] = (server.cpu_seconds() - cpu_before) * 1e6 / report["requests"]
    return report


def overload(server, method, messages, seconds, connections, in_flight, per_second=0, deadline_ms=0):
    """A load that may end in errors. It has the second half of the cores to itself."""
    return run_load(server, method, messages, seconds, connections, in_flight,
                    "--rate", per_second, "--deadline-ms", deadline_ms, cores=HALVES[1])


def cpu_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown CPU"


def machine(folder):
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    disk = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True).stdout
    return (f"{os.cpu_count()} × {cpu_name()}, {memory:.0f} GiB, Linux {os.uname().release}, "
            f"{disk.strip()}")


class Report:
    def __init__(self):
        self.rows = []

    def add(self, what, value, against="", ratio=None, budget=""):
        self.rows.append((what, value, against, f"{ratio:.2f}" if ratio is not None else "", budget))
        print(f"  {what}: {value}" + (f"  ({ratio:.2f} of {against})" if ratio is not None else ""),
              flush=True)

    def markdown(self):
        return table(("what", "measured", "against", "ratio", "budget"), self.rows)


def table(heads, rows):
    lines = [heads, ["---"] + ["---:"] * (len(heads) - 1), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def rate(number):
    return f"{number:,.0f}/s"


@contextlib.contextmanager
def scratch_folder():
    # Next to the build and not in /tmp, which may be in memory: a sync must reach the disk.
    with tempfile.TemporaryDirectory(dir=BUILD, prefix="bench-") as folder:
        yield pathlib.Path(folder)


def commit():
    described = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True,
                               cwd=ROOT).stdout
    return described.strip() or "unknown"


def write_results(name, text, charts=None):
    """Prints the text and writes it to bench/results/, with a description of the machine. `charts` are SVG
    documents by name."""
    RESULTS.mkdir(exist_ok=True)
    stamp = f"{datetime.datetime.now():%Y-%m-%d-%H%M%S}"
    path = RESULTS / f"{stamp}-{name}.md"
    text = f"# {datetime.date.today()}, commit {commit()}: {machine(BUILD)}\n\n{text}"
    path.write_text(text)
    for chart, drawing in (charts or {}).items():
        (RESULTS / f"{stamp}-{chart}.svg").write_text(drawing)
    print(f"\n{text}\nwritten to {path.relative_to(ROOT)}")
