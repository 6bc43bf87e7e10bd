//! Versions as MaiBot writes them, and whether one of those that the host claims lies in a plugin's range.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};

/// `x.y.z`, three whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    major: u32,
    minor: u32,
    patch: u32,
}

/// A word that is no version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no version; write three numbers such as 1.0.12")]
pub struct NoVersion(String);

/// Versions that the host says it is: a plugin that admits one of them is admitted. Configured as one version or as a
/// list of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim(Vec<Version>);

/// The versions that a plugin admits, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VersionRange {
    pub(crate) min: Version,
    pub(crate) max: Version,
}

/// What comes of a claim and a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// This version lies in the range.
    Inside(Version),
    /// This version is only a few patches newer than the range.
    NewerPatch(Version),
    /// None does.
    Outside,
}

// === impl Version ===

impl Version {
    pub(crate) const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch }
    }
}

impl FromStr for Version {
    type Err = NoVersion;

    fn from_str(word: &str) -> Result<Self, NoVersion> {
        let numbers: Vec<u32> = word.split('.').filter_map(number).collect();
        match (numbers.as_slice(), word.split('.').count()) {
            ([major, minor, patch], 3) => Ok(Self::new(*major, *minor, *patch)),
            _ => Err(NoVersion(word.chars().take(40).collect())),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

// === impl Claim ===

impl Claim {
    pub(super) fn of(versions: &[Version]) -> Self {
        Self(versions.to_vec())
    }

    /// What a plugin is told where it asks for one version: the newest.
    pub(crate) fn newest(&self) -> Option<Version> {
        self.0.iter().copied().max()
    }

    /// Strict: no version outside the range is admitted.
    pub(crate) fn strictly_within(&self, range: VersionRange) -> bool {
        self.0.iter().any(|version| range.contains(*version))
    }

    /// Lenient: a version of the range's own `major.minor` may have a higher patch.
    pub(crate) fn within(&self, range: VersionRange) -> Admission {
        if let Some(version) = self.0.iter().find(|version| range.contains(**version)) {
            return Admission::Inside(*version);
        }
        let is_newer_patch = |version: &&Version| {
            (version.major, version.minor) == (range.max.major, range.max.minor) && version.patch > range.max.patch
        };
        self.0.iter().find(is_newer_patch).map_or(Admission::Outside, |version| Admission::NewerPatch(*version))
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let versions: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&versions.join(" or "))
    }
}

impl<'de> Deserialize<'de> for Claim {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a version such as \"1.0.12\", or a list of versions")]
        enum OneOrMany {
            One(String),
            Many(Vec<String>),
        }
        let words = match OneOrMany::deserialize(deserializer)? {
            OneOrMany::One(word) => vec![word],
            OneOrMany::Many(words) => words,
        };
        let versions: Result<Vec<Version>, NoVersion> = words.iter().map(|word| word.parse()).collect();
        match versions.map_err(serde::de::Error::custom)? {
            versions if versions.is_empty() => Err(serde::de::Error::custom("at least one version is needed")),
            versions => Ok(Self(versions)),
        }
    }
}

// === impl VersionRange ===

impl VersionRange {
    fn contains(self, version: Version) -> bool {
        self.min <= version && version <= self.max
    }
}

impl fmt::Display for VersionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.min, self.max)
    }
}

/// Digits only: no sign, no letters, nothing beyond 32 bits.
fn number(part: &str) -> Option<u32> {
    part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(word: &str) -> Version {
        word.parse().unwrap()
    }

    fn range(min: &str, max: &str) -> VersionRange {
        VersionRange { min: version(min), max: version(max) }
    }

    #[test]
    fn a_version_is_three_numbers_and_nothing_else() {
        assert_eq!(version("1.0.12"), Version::new(1, 0, 12));
        assert!(version("1.10.0") > version("1.9.9"));
        for word in
            ["", "1", "1.0", "1.0.0.0", "v1.0.0", "1.0.x", "1.0.-1", "1.0.+1", "1..0", "1.0.0-beta", "1.0.99999999999"]
        {
            assert!(word.parse::<Version>().is_err(), "{word}");
        }
    }

    #[test]
    fn a_higher_patch_of_the_same_minor_version_is_admitted_and_told_apart() {
        let claim = Claim::of(&[version("1.0.12")]);
        for (min, max, expected) in [
            ("1.0.0", "1.99.99", Admission::Inside(version("1.0.12"))),
            ("1.0.12", "1.0.12", Admission::Inside(version("1.0.12"))),
            ("1.0.0", "1.0.10", Admission::NewerPatch(version("1.0.12"))),
            ("0.9.0", "0.9.99", Admission::Outside),
            ("1.0.13", "1.0.20", Admission::Outside),
            ("1.1.0", "1.1.5", Admission::Outside),
        ] {
            assert_eq!(claim.within(range(min, max)), expected, "{min} to {max}");
        }
    }

    #[test]
    fn one_of_several_claimed_versions_is_enough() {
        let claim: Claim = serde_json::from_value(serde_json::json!(["2.7.1", "2.16.0"])).unwrap();
        assert!(claim.strictly_within(range("2.0.0", "2.8.0")));
        assert!(claim.strictly_within(range("2.10.0", "2.99.99")));
        assert!(!claim.strictly_within(range("2.0.0", "2.7.0")), "the SDK's range is strict");
        assert_eq!(claim.newest(), Some(version("2.16.0")));
    }

    #[test]
    fn a_claim_without_a_version_is_refused() {
        for json in [r#"[]"#, r#""latest""#, r#"["1.0.0", 2]"#, "7"] {
            assert!(serde_json::from_str::<Claim>(json).is_err(), "{json}");
        }
    }
}
