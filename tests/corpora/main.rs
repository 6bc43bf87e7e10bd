//! Tests over public recordings, in the folder named by `TOOLYARD_CORPORA`.
#![expect(clippy::unwrap_used, reason = "what stops a test fails it")]
#![expect(clippy::print_stdout, reason = "the figures are for people")]

mod definitions;
mod replies;
mod vendor;

use std::path::PathBuf;

fn recordings() -> PathBuf {
    std::env::var_os("TOOLYARD_CORPORA").map(PathBuf::from).expect("TOOLYARD_CORPORA names the recordings")
}
