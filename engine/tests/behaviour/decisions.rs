//! Who may see and do what: each gate as a table, held against listing and calling alike.

mod campus;
mod effects;
mod flight;
mod gates;
mod lenbot;
mod life;
mod order;
mod profiles;
mod random;
mod sources;
mod world;
