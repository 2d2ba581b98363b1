"""What a backlog of expired documents costs writers."""
import json
import time
import urllib.request

from dataset import LOAD_SECONDS_MAX, PART, make, message_count
from harness import hearth, load, rate

FOREGROUND = 16  # Commits in flight during the sweep.
DOCUMENTS = 10_000
POLICIES = "/hearth/v1/projects/bench/databases/(default)/ttlPolicies"


def ask(server, path, method="GET", body=None):
    request = urllib.request.Request(f"http://{server.address}{path}", method=method,
                                     data=body and json.dumps(body).encode(),
                                     headers={"content-type": "application/json",
                                              "authorization": f"Bearer {server.token()}"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def deleted(server):
    return int(ask(server, POLICIES)["ttlPolicies"][0]["deleted"])


def measure_expiry(report, scratch, seconds, total):
    folder = scratch / "expiry"
    folder.mkdir()
    with hearth(scratch / "hearth-expiry", scratch / "expiry.log") as server:
        for first in range(0, total, PART):
            make(folder, "expired", "--first", first, "--count", min(PART, total - first))
            file = folder / "expired.messages"
            load(server, "Commit", file, LOAD_SECONDS_MAX, 8, message_count(file))
        make(folder, "writes", "--collection", "others", "--documents", DOCUMENTS)
        commits = folder / "others.messages"
        load(server, "Commit", commits, 60, FOREGROUND, DOCUMENTS)
        quiet = load(server, "Commit", commits, seconds, FOREGROUND)
        ask(server, POLICIES + "/expired", "PUT", {"field": "expires"})
        while deleted(server) == 0:
            time.sleep(0.05)
        before, started = deleted(server), time.monotonic()
        busy = load(server, "Commit", commits, seconds, FOREGROUND)
        swept = (deleted(server) - before) / (time.monotonic() - started)
        if deleted(server) >= total:
            raise RuntimeError("the backlog was gone before the measurement ended")
    report.add(f"commits during the sweep of a backlog of {total}", rate(busy["requests_per_second"]),
               "no sweep", busy["requests_per_second"] / quiet["requests_per_second"])
    report.add("commit p50 during the sweep", f"{busy['p50_micros']:.0f} µs", "no sweep",
               busy["p50_micros"] / quiet["p50_micros"])
    report.add("commit p99 during the sweep", f"{busy['p99_micros']:.0f} µs", "no sweep",
               busy["p99_micros"] / quiet["p99_micros"])
    report.add("documents deleted by the sweep", rate(swept))
