"""Programs that end with the series that started them.

Python hands signals to the main thread. It only waits, and worker threads
start the programs: so an interrupt never strikes between the start of a
program and the note that it runs."""

import contextlib
import os
import signal
import subprocess
import threading


def install():
    """SIGINT and SIGTERM raise KeyboardInterrupt in the main thread."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)


class Stopped(Exception):
    """stop() was called: what a program had is of no use."""


def _kill(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


class Processes:
    """Starts programs from any thread until stop() is called."""

    def __init__(self):
        self._lock = threading.Lock()
        self._running = set()
        self._stopped = False

    def run(self, command, environment, timeout):
        """Runs a program to its end: (exit status, stdout, stderr), the latter
        as bytes. Raises OSError if it does not start, TimeoutExpired if it
        takes more than `timeout` seconds, Stopped after stop(); the program
        and its children are gone then."""
        with self._lock:
            if self._stopped:
                raise Stopped
            process = subprocess.Popen(
                list(map(str, command)), stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=environment, start_new_session=True)
            self._running.add(process)
        try:
            output, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            _kill(process)
            process.communicate()
            raise
        finally:
            with self._lock:
                self._running.remove(process)
                stopped = self._stopped
        if stopped:
            raise Stopped
        return process.returncode, output, errors

    def stop(self):
        """Kills what runs; nothing starts any more."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                _kill(process)
