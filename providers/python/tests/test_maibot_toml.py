"""What is written as TOML is read back as it was."""

import datetime
import enum
import unittest

import tomllib

from toolyard_runner.maibot import toml_text


class Colour(enum.Enum):
    RED = "red"


class TomlTest(unittest.TestCase):
    def test_documents_come_back_as_they_were(self) -> None:
        document = {
            "top": 1,
            "plugin": {"enabled": True, "config_version": "1.0.0", "rate": 0.5, "whole": 2.0, "tiny": 1e-7},
            "text": {
                "quotes": 'a "b" \\ c',
                "lines": "a\nb\tc",
                "control": "\x00\x1f\x7f",
                "wide": "上海😀",
                "": "empty",
            },
            "lists": {
                "words": ["a", "b"],
                "none": [],
                "mixed": [1, "a", [True]],
                "tables": [{"a": 1}, {"b": {"c": 2}}],
            },
            "odd keys": {"a.b": {"c d": 1}, "日期": datetime.date(2026, 10, 1)},
            "when": datetime.datetime(2026, 10, 1, 8, 30, tzinfo=datetime.timezone.utc),
            "nested": {"deep": {"deeper": {"x": 1}}},
        }
        self.assertEqual(tomllib.loads(toml_text.dumps(document)), document)

    def test_what_toml_does_not_know_is_written_as_what_it_is_made_of(self) -> None:
        written = toml_text.dumps(
            {"none": None, "colour": Colour.RED, "pair": (1, 2), "inline": [1, {"a": None, "b": 1}]}
        )
        self.assertEqual(tomllib.loads(written), {"colour": "red", "pair": [1, 2], "inline": [1, {"b": 1}]})


if __name__ == "__main__":
    unittest.main()
