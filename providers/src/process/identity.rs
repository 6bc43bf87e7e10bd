//! Which user a child runs as.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A user of the system, by numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Ids {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

/// The user that a child is to run as: `user`, `user:group`, `uid:gid`. Names are those of `/etc/passwd` and
/// `/etc/group`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct RunAs {
    user: Account,
    group: Option<Account>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Account {
    Id(u32),
    Name(String),
}

/// What [`choose_identity`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The child runs as the daemon does, as it should.
    Same,
    /// The child runs as root for want of anybody else, of which people should hear.
    Root,
    /// The child runs as this user.
    Other(Ids),
}

/// A line of `/etc/passwd`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct User {
    pub(super) name: String,
    pub(super) ids: Ids,
    pub(super) home: PathBuf,
}

/// Who a plugin's process runs as: whom the configuration names, else the owner of the plugin's folder, who can read and
/// write there, unless that is root. Only a daemon that is root can choose.
///
/// # Errors
/// The configuration names another user than the daemon's, and the daemon is not root.
pub(crate) fn choose_identity(configured: Option<Ids>, daemon: Ids, owner: Ids) -> Result<Choice, String> {
    match configured {
        Some(ids) if ids.uid == daemon.uid && ids.gid == daemon.gid => Ok(Choice::Same),
        Some(ids) if daemon.uid == 0 => Ok(Choice::Other(ids)),
        Some(ids) => {
            Err(format!("run_as names user {}, but the daemon runs as user {} and not as root", ids.uid, daemon.uid))
        }
        None if daemon.uid != 0 => Ok(Choice::Same),
        None if owner.uid == 0 => Ok(Choice::Root),
        None => Ok(Choice::Other(owner)),
    }
}

// === impl Ids ===

impl Ids {
    pub(crate) fn of_this_process() -> Self {
        Self { uid: rustix::process::geteuid().as_raw(), gid: rustix::process::getegid().as_raw() }
    }

    /// The owner of a file or folder.
    ///
    /// # Errors
    /// It cannot be looked at.
    pub(crate) fn of_owner(path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::metadata(path)?;
        Ok(Self { uid: metadata.uid(), gid: metadata.gid() })
    }
}

// === impl RunAs ===

impl RunAs {
    /// The numbers behind the names. A user without a group gets the group that `/etc/passwd` gives it.
    ///
    /// # Errors
    /// A name is not known, or a number without a group is not.
    pub(crate) fn resolve(&self) -> io::Result<Ids> {
        self.look_up(&file("/etc/passwd"), &file("/etc/group"))
    }

    fn look_up(&self, passwd: &str, group: &str) -> io::Result<Ids> {
        let user = users(passwd).find(|user| match &self.user {
            Account::Id(uid) => user.ids.uid == *uid,
            Account::Name(name) => user.name == *name,
        });
        let uid = match (&self.user, &user) {
            (Account::Id(uid), _) => *uid,
            (Account::Name(_), Some(user)) => user.ids.uid,
            (Account::Name(name), None) => return Err(unknown(format!("run_as: there is no user `{name}`"))),
        };
        let gid = match &self.group {
            Some(Account::Id(gid)) => *gid,
            Some(Account::Name(name)) => {
                group_id(group, name).ok_or_else(|| unknown(format!("run_as: there is no group `{name}`")))?
            }
            None => match user {
                Some(user) => user.ids.gid,
                None => return Err(unknown(format!("run_as: user {uid} needs a group too, as in `{uid}:{uid}`"))),
            },
        };
        Ok(Ids { uid, gid })
    }
}

impl From<Ids> for RunAs {
    fn from(ids: Ids) -> Self {
        Self { user: Account::Id(ids.uid), group: Some(Account::Id(ids.gid)) }
    }
}

impl TryFrom<String> for RunAs {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (user, group) = match text.split_once(':') {
            Some((user, group)) => (user, Some(group)),
            None => (text.as_str(), None),
        };
        if user.is_empty() || group.is_some_and(|group| group.is_empty() || group.contains(':')) {
            return Err(format!("`{text}` is no user: write `user`, `user:group` or `uid:gid`"));
        }
        Ok(Self { user: Account::read(user), group: group.map(Account::read) })
    }
}

// === impl Account ===

impl Account {
    fn read(text: &str) -> Self {
        text.parse().map_or_else(|_name| Self::Name(text.to_owned()), Self::Id)
    }
}

// === impl User ===

impl User {
    /// The user with this number, where `/etc/passwd` names one.
    pub(super) fn with_id(uid: u32) -> Option<Self> {
        users(&file("/etc/passwd")).find(|user| user.ids.uid == uid)
    }
}

fn users(passwd: &str) -> impl Iterator<Item = User> {
    passwd.lines().filter_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?.to_owned();
        let ids = Ids { uid: fields.nth(1)?.parse().ok()?, gid: fields.next()?.parse().ok()? };
        Some(User { name, ids, home: fields.nth(1)?.into() })
    })
}

fn group_id(group: &str, name: &str) -> Option<u32> {
    group.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next()? == name { fields.nth(1)?.parse().ok() } else { None }
    })
}

/// A system without the file knows no names.
fn file(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn unknown(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: Ids = Ids { uid: 0, gid: 0 };
    const BOT: Ids = Ids { uid: 1000, gid: 100 };
    const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\nbroken\nbot:x:1000:100:Bot,,,:/home/bot:/bin/sh\n";
    const GROUP: &str = "root:x:0:\nusers:x:100:bot\n";

    #[test]
    fn a_root_daemon_hands_a_plugin_to_the_owner_of_its_folder() {
        assert_eq!(choose_identity(None, ROOT, BOT), Ok(Choice::Other(BOT)));
        assert_eq!(choose_identity(None, ROOT, ROOT), Ok(Choice::Root));
    }

    #[test]
    fn a_daemon_of_another_user_runs_plugins_as_itself() {
        assert_eq!(choose_identity(None, BOT, ROOT), Ok(Choice::Same));
        assert_eq!(choose_identity(Some(BOT), BOT, ROOT), Ok(Choice::Same));
        assert!(choose_identity(Some(ROOT), BOT, BOT).unwrap_err().contains("not as root"));
    }

    #[test]
    fn the_configuration_goes_before_the_owner() {
        assert_eq!(choose_identity(Some(BOT), ROOT, ROOT), Ok(Choice::Other(BOT)));
        assert_eq!(choose_identity(Some(ROOT), ROOT, BOT), Ok(Choice::Same));
    }

    fn resolve(text: &str) -> Result<Ids, String> {
        RunAs::try_from(text.to_owned())?.look_up(PASSWD, GROUP).map_err(|error| error.to_string())
    }

    #[test]
    fn users_and_groups_are_found_by_name_and_by_number() {
        for text in ["bot", "1000", "bot:users", "1000:100", "bot:100"] {
            assert_eq!(resolve(text), Ok(BOT), "{text}");
        }
        assert_eq!(resolve("5:6"), Ok(Ids { uid: 5, gid: 6 }));
        for text in ["nobody-here", "bot:nothing", "7", "", ":", "a:", "a:b:c"] {
            assert!(resolve(text).is_err(), "{text}");
        }
    }
}
