"""What is left of the useful answers when clients ask for more than the server can do.

The server and the load have half of the cores each: a load that waits for a processor would measure itself.
"""
from dataset import load_documents, make, method
from harness import HALVES, hearth, overload, rate

DOCUMENTS = 10_000
TIMES_CAPACITY = 3
CONNECTIONS = 16  # At least.
STREAMS = 500  # Per connection: requests beyond the server's limit would wait in the client.
CAPACITY_IN_FLIGHT = 64
DEADLINES_MS = (200, 500)


def measure_overload(report, _rival, messages, scratch, seconds):
    """Answers in time at three times capacity"""
    folder = scratch / "overload"
    folder.mkdir()
    make(folder, "queries", "--total", DOCUMENTS)
    loads = [("GetDocument", "GetDocument", messages / "get.messages"),
             ("Commit, synced", "Commit", messages / "commit.messages"),
             *((f"query, {what}", method(name), folder / f"{name}.messages")
               for name, what in (("point", "equality, 1 result"), ("range_20", "range of 20")))]
    with hearth(scratch / "hearth-overload", cores=HALVES[0]) as server:
        load_documents(server, folder, DOCUMENTS, 8)
        # Also makes the documents that GetDocument reads, and the queries' indexes.
        for _, path, file in reversed(loads):
            overload(server, path, file, seconds, CONNECTIONS, CAPACITY_IN_FLIGHT)
        for what, path, file in loads:
            capacity = overload(server, path, file, seconds, CONNECTIONS, CAPACITY_IN_FLIGHT)
            capacity = capacity["in_time_per_second"]
            report.add(f"{what}: {CAPACITY_IN_FLIGHT} in flight", rate(capacity))
            for deadline_ms in DEADLINES_MS:
                asked = TIMES_CAPACITY * capacity
                in_flight = int(asked * deadline_ms / 1000)  # Of clients that give up in time.
                connections = max(CONNECTIONS, -(-in_flight // STREAMS))
                measured = overload(server, path, file, seconds, connections, in_flight, asked,
                                    deadline_ms)
                report.add(f"{what}: in time, with a deadline of {deadline_ms} ms and "
                           f"{rate(measured['requests'] / measured['seconds'])} asked for",
                           rate(measured["in_time_per_second"]), f"{CAPACITY_IN_FLIGHT} in flight",
                           measured["in_time_per_second"] / capacity, "≥ 0.8")
