"""The cost of indexes for writers: per commit, and while one is being built."""
from dataset import make, message_count
from harness import hearth, load, rate
from index_log import IndexLog

DOCUMENTS = 10_000
IN_FLIGHT = 256
FOREGROUND = 16  # Commits in flight during a build.


def fill_and_index(server, folder, log, collection, *, fields, indexes, changed=0):
    """Creates a collection with this many indexes; returns the file of commits that change its documents."""
    def write(what, **options):
        make(folder, "writes", "--collection", collection, "--documents", DOCUMENTS, "--fields", fields,
             *(f"--{name}={value}" for name, value in options.items()))
        return folder / f"{collection}.{what}"
    load(server, "Commit", write("messages", rounds=1), 600, IN_FLIGHT, DOCUMENTS)
    if indexes:
        queries, before = write("queries", rounds=1, indexes=indexes), log.count()
        # Beyond the first few, an index is built when its need was seen three times.
        load(server, "RunQuery", queries, 60, 1, 3 * message_count(queries))
        log.wait_until_quiet()
        if log.count() - before != indexes:
            raise RuntimeError(f"{indexes} indexes expected, {log.count() - before} made")
    return write("messages", rounds=4, changed=changed)


def measure_write_cost(report, scratch, seconds):
    folder = scratch / "writes"
    folder.mkdir()
    log = IndexLog(scratch / "writes.log")
    with hearth(scratch / "hearth-writes", log.path) as server:
        none = None
        for indexes in (0, 1, 5, 20):
            commits = fill_and_index(server, folder, log, f"narrow_{indexes}", fields=10,
                                     indexes=indexes)
            measured = load(server, "Commit", commits, seconds, IN_FLIGHT)
            speed = measured["requests_per_second"]
            none = none or speed
            report.add(f"commits of 10 fields, all changed, {indexes} indexes", rate(speed),
                       "no index", speed / none)
            commits.unlink()
        none = None
        for what, indexes, changed in (("all changed", 0, 0), ("all changed", 20, 0),
                                       ("one changed", 0, 1), ("one changed", 20, 1)):
            commits = fill_and_index(server, folder, log, f"wide_{indexes}_{changed}", fields=20,
                                     indexes=indexes, changed=changed)
            speed = load(server, "Commit", commits, seconds, IN_FLIGHT)["requests_per_second"]
            none = speed if indexes == 0 else none
            report.add(f"commits of 20 fields, {what}, {indexes} indexes", rate(speed),
                       "no index", speed / none)


def measure_back_fill(server, folder, log, seconds):
    """Commits to another collection, while no index is being built and while one over `items` is."""
    make(folder, "writes", "--collection", "others", "--documents", DOCUMENTS)
    commits = folder / "others.messages"
    load(server, "Commit", commits, 60, FOREGROUND, DOCUMENTS)
    quiet = load(server, "Commit", commits, seconds, FOREGROUND)
    alone = log.last_build_seconds()
    make(folder, "order", "--collection", "items", "--field", "ratio")
    before = log.started()
    load(server, "RunQuery", folder / "order.messages", 60, 1, 1)
    log.wait_until_started(before + 1)
    # Shorter than the build, which takes longer than the last one did without load.
    busy = load(server, "Commit", commits, min(4 * seconds, 0.8 * alone), FOREGROUND)
    outlasted = log.is_building()
    log.wait_until_quiet()
    return {"quiet": quiet, "busy": busy, "alone_seconds": alone,
            "seconds": log.last_build_seconds(), "outlasted": outlasted}
