//! Plugins that do their worst: each of them hurts itself only.

mod frames;
mod handlers;
mod loading;
mod noise;
mod processes;
