//! Plugins of bots, each in a process of its own.

mod xbot;

pub use xbot::{KIND as XBOT_KIND, XbotConfig, XbotConnector};
