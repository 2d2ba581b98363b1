"""What a server's log reports about the indexes that it builds."""
import datetime
import time

QUIET_SECONDS = 1.5  # If no build was logged for this long, no index is being built.
STARTED, READY = "building an index", "an index is ready"


class IndexLog:
    def __init__(self, path):
        self.path = path

    def times(self, event):
        return [datetime.datetime.fromisoformat(line.split()[0].rstrip("Z"))
                for line in self.path.read_text().splitlines() if f" info {event} " in line]

    def is_building(self):
        return len(self.times(STARTED)) > len(self.times(READY))

    def count(self):
        return len(self.times(READY))

    def last_build_seconds(self):
        return (self.times(READY)[-1] - self.times(STARTED)[-1]).total_seconds()

    def started(self):
        return len(self.times(STARTED))

    def wait_until_started(self, count):
        while self.started() < count:
            time.sleep(0.005)

    def wait_until_quiet(self):
        quiet_since = time.monotonic()
        while time.monotonic() < quiet_since + QUIET_SECONDS:
            time.sleep(0.1)
            if self.is_building():
                quiet_since = time.monotonic()
