"""The documents and requests of the query benchmarks: generates them, loads them, runs each query once."""
import json
import subprocess

from harness import BUILD, ROOT, load

# Kinds of queries, as in make_queries.cc, with their result sizes.
QUERIES = {
    "point": "equality, 1 result",
    "range_20": "range of 20",
    "inequalities_20": "two inequalities, first 20",
    "join_20": "two equalities, first 20",
    "or_10": "OR of 10 equalities",
    "cursor_middle": "20 after a cursor in the middle",
    "page_1000": "page 1000 by name, of 20",
    "group_20": "collection group, first 20",
    "count_range": "count of 500",
    "top_2000": "top 2000, descending",
    "count_all": "count of everything",
}
# The work of these grows with the collection, or is limited by its size.
GROWING = ("top_2000", "count_all")
REQUESTS = 256  # Distinct requests per kind, as in make_queries.cc.
PART = 100_000  # Documents generated and loaded at a time.
LOAD_SECONDS_MAX = 600


def method(query):
    return "RunAggregationQuery" if query.startswith("count") else "RunQuery"


def make(folder, *arguments):
    subprocess.run([BUILD / "make_queries", folder, *map(str, arguments)], check=True)


def make_parts(folder, total):
    """Generates documents.messages and rows.tsv in `folder`, once per part."""
    for first in range(0, total, PART):
        make(folder, "documents", "--first", first, "--count", min(PART, total - first),
             "--total", total)
        yield


def message_count(file):
    count = 0
    with open(file, "rb") as stream:
        while size := stream.read(4):
            stream.seek(int.from_bytes(size, "little"), 1)
            count += 1
    return count


def load_documents(server, folder, total, in_flight):
    """Returns documents per second."""
    seconds = 0
    for _ in make_parts(folder, total):
        file = folder / "documents.messages"
        seconds += load(server, "Commit", file, LOAD_SECONDS_MAX, in_flight,
                        message_count(file))["seconds"]
    return 1.1 * total / seconds  # A tenth of the documents are in other collections.


def explain(server, folder, mode):
    """What the first request of each kind returns and, in mode "analyze", reads."""
    asked = [f"{name}={method(name)}:{folder / name}.messages" for name in QUERIES]
    output = subprocess.run(["node", ROOT / "bench" / "explain.mjs", server.address, mode, *asked],
                            check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout
    return json.loads(output)
