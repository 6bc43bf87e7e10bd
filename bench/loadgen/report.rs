//! The report: results as a document, a table on the terminal, and a page with charts.

mod chart;
mod distribution;
mod facts;
mod html;
mod page;
mod results;
#[cfg(test)]
mod sample;
mod table;
pub(crate) mod units;

pub(crate) use distribution::Distribution;
pub(crate) use facts::ProcessFacts;
pub(crate) use html::page as html;
pub(crate) use results::{Results, RunFacts};
#[cfg(test)]
pub(crate) use sample::sample;
pub(crate) use table::{Grid, table};
