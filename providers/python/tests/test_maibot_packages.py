"""Versions of packages against what a manifest asks for."""

import unittest

from toolyard_runner.maibot.packages import Package, admits, advice


class PackagesTest(unittest.TestCase):
    def test_specifiers_are_understood(self) -> None:
        for spec, version, expected in [
            ("", "1.0", True),
            ("*", "1.0", True),
            (">=0.24.0", "0.28.1", True),
            (">=0.24.0", "0.23.9", False),
            (">=1,<2", "1.9.9", True),
            (">=1,<2", "2.0", False),
            ("==1.4", "1.4.0", True),
            ("==1.*", "1.9", True),
            ("==1.*", "2.0", False),
            ("!=1.4.*", "1.4.2", False),
            ("~=1.4.2", "1.4.9", True),
            ("~=1.4.2", "1.5.0", False),
            ("~=1.4", "1.9", True),
            (">2026.1", "2026.10.19.post1", True),
            (">=1.0rc1", "1.0", True),
            ("newest please", "1.0", True),
            (">=1", "no version", True),
        ]:
            with self.subTest(spec=spec, version=version):
                self.assertEqual(admits(spec, version), expected)

    def test_a_failed_import_names_what_to_install(self) -> None:
        absent = [Package("PyYAML", ">=6"), Package("Fancy_Name", "")]
        missing = ModuleNotFoundError("No module named 'yaml'", name="yaml")
        self.assertIn("'PyYAML>=6' Fancy_Name", advice(missing, absent))
        named = ModuleNotFoundError("No module named 'fancy_name'", name="fancy_name.inner")
        self.assertTrue(advice(named, absent).endswith("-m pip install Fancy_Name"))
        self.assertEqual(advice(ValueError("x"), absent), "")
        self.assertEqual(advice(missing, []), "")


if __name__ == "__main__":
    unittest.main()
