"""The same documents and queries in PostgreSQL: a jsonb column and one expression index per kind
of query, measured by pgbench with prepared statements over loopback TCP."""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from harness import free_port

REQUESTS = 256  # Distinct requests per kind, as in make_queries.cc.

SCHEMA = """
CREATE TABLE documents (path text COLLATE "C" PRIMARY KEY, collection text NOT NULL,
                        collection_id text NOT NULL, data jsonb NOT NULL);
"""

INDEXES = """
CREATE INDEX ON documents (collection, ((data->>'serial')::bigint), path);
CREATE INDEX ON documents (collection, ((data->>'score')::bigint), path);
CREATE INDEX ON documents (collection, ((data->>'score')::bigint), ((data->>'rank')::bigint), path);
CREATE INDEX ON documents (collection, ((data->>'category')::bigint), ((data->>'city')::bigint), path);
CREATE INDEX ON documents (collection_id, ((data->>'score')::bigint), path);
CREATE INDEX ON documents (collection, path);
VACUUM ANALYZE documents;
"""

ITEMS = "FROM documents WHERE collection = 'items'"
SELECT = "SELECT path, data " + ITEMS
SERIAL, SCORE, RANK = "(data->>'serial')::bigint", "(data->>'score')::bigint", "(data->>'rank')::bigint"

# For each query of make_queries.cc: how its parameter is computed from :i, and the statement. {total} is the
# number of documents.
QUERIES = {
    "point": (r"\set a :i * 1299709 % {total}", f"{SELECT} AND {SERIAL} = :a ORDER BY path"),
    "range_20": (r"\set a :i * 1299709 % ({total} - 20)",
                 f"{SELECT} AND {SCORE} >= :a AND {SCORE} < :a + 20 ORDER BY {SCORE}, path"),
    "inequalities_20": (r"\set a :i * 1299709 % ({total} / 2)",
                        f"{SELECT} AND {SCORE} >= :a AND {RANK} >= {{total}} / 2 "
                        f"ORDER BY {SCORE}, {RANK}, path LIMIT 20"),
    "join_20": ("\\set a :i % 5\n\\set b :i / 5 % 5",
                f"{SELECT} AND (data->>'category')::bigint = :a AND (data->>'city')::bigint = :b "
                "ORDER BY path LIMIT 20"),
    "or_10": (r"\set a :i * 1299709 % {total}",
              f"{SELECT} AND {SERIAL} IN ("
              + ", ".join(f"(:a + {j} * {{total}} / 10) % {{total}}" for j in range(10))
              + ") ORDER BY path"),
    "top_2000": (r"\set a 2000", f"{SELECT} ORDER BY {SCORE} DESC, path DESC LIMIT :a"),
    "count_all": ("", f"SELECT count(*) {ITEMS}"),
    "count_range": (r"\set a :i * 1299709 % ({total} - 500)",
                    f"SELECT count(*) {ITEMS} AND {SCORE} >= :a AND {SCORE} < :a + 500"),
    "cursor_middle": (r"\set a {total} / 2 + :i",
                      f"{SELECT} AND {SCORE} > :a ORDER BY {SCORE}, path LIMIT 20"),
    "page_1000": (r"\set a least(20000, {total} / 2) + :i",
                  f"{SELECT} AND path > 'items/document-' || lpad((:a)::text, 8, '0') "
                  "ORDER BY path LIMIT 20"),
    "group_20": (r"\set a :i * 1299709 % ({total} - 20)",
                 "SELECT path, data FROM documents WHERE collection_id = 'items' "
                 f"AND {SCORE} >= :a AND {SCORE} < :a + 20 ORDER BY {SCORE}, path LIMIT 20"),
}


def programs():
    """The folder of PostgreSQL's programs; None if it is not installed."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found and shutil.which("pgbench") else None


class Postgres:
    """A private cluster; `with` creates and starts it on a free loopback port, and removes it."""

    PARENT = "/var/tmp"  # On a disk, and accessible to the user that the server runs as.

    def __init__(self):
        self.bin = programs()

    def __enter__(self):
        self.stack = contextlib.ExitStack()
        self.folder = pathlib.Path(self.stack.enter_context(
            tempfile.TemporaryDirectory(dir=self.PARENT, prefix="postgres-")))
        self.data, self.port = self.folder / "data", free_port()
        self.data.mkdir()
        # The server refuses to run as root.
        self.as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self.as_user:
            shutil.chown(self.folder, "postgres")
            shutil.chown(self.data, "postgres")
        self.run(self.bin / "initdb", "-D", self.data, "-U", "bench", "--auth=trust", "-E", "UTF8",
                 "--locale=C")
        self.run(self.bin / "pg_ctl", "-D", self.data, "-w", "-l", self.folder / "log", "start", "-o",
                 f"-p {self.port} -c listen_addresses=127.0.0.1 -k {self.folder}")
        return self

    def __exit__(self, *_):
        self.run(self.bin / "pg_ctl", "-D", self.data, "-m", "fast", "-w", "stop")
        self.stack.close()

    def run(self, *command):
        subprocess.run([*self.as_user, *map(str, command)], check=True, cwd="/",
                       stdout=subprocess.DEVNULL)

    def client(self, program):
        return [program, "-h", "127.0.0.1", "-p", str(self.port), "-U", "bench"]

    def sql(self, text):
        return subprocess.run([*self.client("psql"), "-d", "postgres", "-qAt", "-v", "ON_ERROR_STOP=1"],
                              input=text, check=True, capture_output=True, text=True).stdout.strip()

    def create(self):
        self.sql("DROP TABLE IF EXISTS documents;" + SCHEMA)

    def copy(self, rows):
        self.sql(f"\\copy documents FROM '{rows}'")

    def make_indexes(self):
        self.sql(INDEXES)

    def results(self, name, total):
        """The number of rows, or the count, that the first query returns; and its plan."""
        statement = self.statement(name, total)
        for variable, value in self.first_parameters(name, total).items():
            statement = re.sub(rf":{variable}\b", str(value), statement)
        if name.startswith("count"):
            return int(self.sql(statement))
        return int(self.sql(f"SELECT count(*) FROM ({statement}) AS answer"))

    @staticmethod
    def statement(name, total):
        return QUERIES[name][1].format(total=total)

    @staticmethod
    def first_parameters(name, total):
        """The parameters for :i = 0."""
        first = {"top_2000": 2000, "cursor_middle": total // 2, "page_1000": min(20000, total // 2)}
        return {"a": first.get(name, 0), "b": 0}

    def measure(self, name, total, seconds, clients):
        """p50 in microseconds, and queries per second."""
        script = self.folder / f"{name}.sql"
        parameters = QUERIES[name][0].format(total=total)
        script.write_text(f"\\set i random(0, {REQUESTS - 1})\n{parameters}\n"
                          f"{self.statement(name, total)};\n")
        with tempfile.TemporaryDirectory(dir=self.PARENT) as logs:
            output = subprocess.run(
                [*self.client("pgbench"), "-n", "-M", "prepared", "-c", str(clients), "-j", "1",
                 "-T", str(seconds), "-f", script, "-l", "--log-prefix", f"{logs}/log", "postgres"],
                check=True, capture_output=True, text=True).stdout
            times = sorted(int(line.split()[2]) for log in pathlib.Path(logs).iterdir()
                           for line in log.read_text().splitlines())
        return {"p50_micros": times[len(times) // 2],
                "requests_per_second": float(re.search(r"tps = ([\d.]+)", output)[1])}
