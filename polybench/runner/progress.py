"""A progress bar on a terminal; one line per job elsewhere."""

import sys
import time


def duration(seconds):
    """75.2 as `1:15`, 3700 as `1:01:40`."""
    seconds = int(seconds + 0.5)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{seconds:02}"
    return f"{minutes}:{seconds:02}"


class Progress:
    """Counts jobs of different weight: the time left assumes that a job takes
    time in proportion to its weight."""

    WIDTH = 24

    def __init__(self, weights, stream=sys.stderr, clock=time.monotonic):
        self.total = len(weights)
        self.left = sum(weights)
        self.done_weight = 0.0
        self.done = 0
        self.failed = 0
        self.stream = stream
        self.clock = clock
        self.start = clock()
        self.bar = stream.isatty()

    def remaining(self):
        """Seconds left, or None before the first job has ended."""
        if self.done_weight == 0:
            return None
        return (self.clock() - self.start) / self.done_weight * self.left

    def _line(self, text):
        filled = self.WIDTH * self.done // max(self.total, 1)
        left = self.remaining()
        parts = ["[" + "#" * filled + "." * (self.WIDTH - filled) + "]",
                 f"{self.done}/{self.total}"]
        if self.failed:
            parts.append(f"{self.failed} failed")
        if left is not None:
            parts.append(f"{duration(left)} left")
        return " ".join(parts + [text])

    def show(self, text):
        """Tells what is being done now."""
        if self.bar:
            self.stream.write("\r\033[K" + self._line(text)[:119])
            self.stream.flush()

    def step(self, weight, text, failed=False):
        """A job has ended."""
        self.done += 1
        self.done_weight += weight
        self.left = max(self.left - weight, 0.0)
        self.failed += bool(failed)
        if not self.bar:
            self.stream.write(self._line(text) + "\n")
            self.stream.flush()
        elif failed:
            self.stream.write("\r\033[K" + text + "\n")

    def close(self):
        if self.bar:
            self.stream.write("\r\033[K")
            self.stream.flush()
