"""What a plugin keeps: JSON values by key, in a small database in its data folder."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from .encoding import check

_FILE = "kv.sqlite3"
_MAX_KEY = 512
_MAX_VALUE = 4 << 20


class Storage:
    """Used on the loop's thread only; every write is durable when it returns."""

    def __init__(self, data_dir: Path) -> None:
        data_dir.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(data_dir / _FILE, timeout=5, isolation_level=None)
        self._database.execute("CREATE TABLE IF NOT EXISTS kv (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
        self._database.execute("CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")

    def get(self, key: str, default: Any = None) -> Any:
        """The value, or the default."""
        row = self._database.execute("SELECT value FROM kv WHERE key = ?", (_key(key),)).fetchone()
        return default if row is None else json.loads(row[0])

    def set(self, key: str, value: Any) -> None:
        """Keeps the value. Raises ValueError for what is not JSON or too large."""
        written = json.dumps(check(value), ensure_ascii=False, allow_nan=False)
        if len(written) > _MAX_VALUE:
            raise ValueError(f"键 {key} 的值有 {len(written)} 个字符，最多 {_MAX_VALUE}")
        self._database.execute("INSERT OR REPLACE INTO kv VALUES (?, ?)", (_key(key), written))

    def delete(self, key: str) -> bool:
        """Forgets the value; says whether there was one."""
        gone = self._database.execute("DELETE FROM kv WHERE key = ?", (_key(key),))
        return gone.rowcount > 0

    def data_version(self) -> int | None:
        """The version of the plugin's data that is on disk."""
        row = self._database.execute("SELECT value FROM meta WHERE key = 'data_version'").fetchone()
        return None if row is None else int(row[0])

    def set_data_version(self, version: int) -> None:
        """Notes the version of the plugin's data."""
        self._database.execute("INSERT OR REPLACE INTO meta VALUES ('data_version', ?)", (str(version),))

    def close(self) -> None:
        """Gives the file back."""
        self._database.close()


def _key(key: str) -> str:
    if not isinstance(key, str) or not key or len(key) > _MAX_KEY:
        raise ValueError(f"键必须是 1 到 {_MAX_KEY} 个字符的文本")
    return key
