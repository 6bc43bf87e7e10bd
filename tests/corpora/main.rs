//! Tests over public recordings, in the folder named by `TOOLYARD_CORPORA`.

mod definitions;
mod replies;
mod vendor;

use std::path::PathBuf;

fn recordings() -> PathBuf {
    std::env::var_os("TOOLYARD_CORPORA").map(PathBuf::from).expect("TOOLYARD_CORPORA names the recordings")
}
