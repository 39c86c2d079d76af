"""Opens a home without writing to it (docs/format.md sections 1 and 2).

SQLite makes files beside a database in WAL mode even for someone who only
reads. So the ledger and its log are copied first, and the copy is opened.
"""

import os
import shutil
import sqlite3
import tempfile

import events
from canonical import Refused

APPLICATION = 1381131313
VERSION = 1
TRIGGERS = ("event_no_delete", "event_in_order", "event_no_replace", "event_no_update")
QUERY = f"SELECT seq, leaf, salt, bytes, {', '.join(events.COLUMNS)} FROM event ORDER BY seq"


class Row:
    """One row of the table `event`, as it is stored."""

    def __init__(self, values):
        self.seq, self.leaf, self.salt, self.bytes = values[:4]
        self.columns = dict(zip(events.COLUMNS, values[4:], strict=True))


class Home:
    """What the files of a home say."""

    def __init__(self, path):
        ledger = os.path.join(path, "ledger.sqlite3")
        if not os.path.isfile(ledger):
            raise Refused("not a home: ledger.sqlite3 is not there")
        with tempfile.TemporaryDirectory() as folder:
            self._read(_copy(ledger, folder))

    def _read(self, copy):
        connection = sqlite3.connect(f"file:{copy}?mode=ro", uri=True)
        try:
            for pragma, value in (("application_id", APPLICATION), ("user_version", VERSION)):
                found = connection.execute(f"PRAGMA {pragma}").fetchone()[0]
                if found != value:
                    raise Refused(f"{pragma} is {found}: another format")
            self.rows = [Row(values) for values in connection.execute(QUERY)]
            self.tree = connection.execute("SELECT size, edge FROM tree").fetchall()
            names = connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'event'"
            )
            found = {name for (name,) in names}
            self.missing_triggers = [name for name in TRIGGERS if name not in found]
        except sqlite3.Error as error:
            raise Refused(f"the ledger cannot be read: {error}") from error
        finally:
            connection.close()


def _copy(ledger, folder):
    """Copies the ledger and its log, again when a writer came between."""
    copy = os.path.join(folder, "ledger.sqlite3")
    for _ in range(10):
        before = _stamps(ledger)
        for end in ("", "-wal"):
            if os.path.exists(ledger + end):
                shutil.copyfile(ledger + end, copy + end)
            elif os.path.exists(copy + end):
                os.remove(copy + end)
        if _stamps(ledger) == before:
            return copy
    raise Refused("the ledger is written all the time; make a backup and read that")


def _stamps(ledger):
    stamps = []
    for end in ("", "-wal"):
        try:
            found = os.stat(ledger + end)
            stamps.append((found.st_mtime_ns, found.st_size))
        except FileNotFoundError:
            stamps.append(None)
    return stamps
