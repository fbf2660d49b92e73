"""Ctrl-C and `kill` end a series as KeyboardInterrupt, but never while a
program is being started: it would be left behind, running."""

import contextlib
import signal

_held = False
_pending = False


def _handle(_number, _frame):
    global _pending
    if _held:
        _pending = True
    else:
        raise KeyboardInterrupt


def install():
    """Takes over SIGINT and SIGTERM of this process."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _handle)


@contextlib.contextmanager
def held():
    """Puts interrupts off until check() is called after the block."""
    global _held
    _held = True
    try:
        yield
    finally:
        _held = False


def check():
    """Raises KeyboardInterrupt if an interrupt was put off."""
    global _pending
    if _pending:
        _pending = False
        raise KeyboardInterrupt
