//! How plugins' processes live, die and are replaced.

mod calls;
mod change;
mod daemon;
mod death;
mod start;
