//! Discovery: which deferred tools there are, how they are found, what plugins say of their tools, and a preview of all of
//! it.
//!
//! Everything here is read from a routing table and a caller, as the gates see them; nothing is written.

mod block;
mod catalogue;
mod guide;
mod preview;
mod search;

pub(crate) use block::{block, cut};
pub use catalogue::{Catalogue, CatalogueEntry, CataloguePlugin};
pub(crate) use catalogue::{catalogue, plugins};
pub use guide::{Guide, Guides};
pub(crate) use guide::{MAX_GUIDE_BYTES, ProviderGuide, guides};
pub(crate) use preview::Previewer;
pub use preview::{LeftOut, Preview, PreviewState, PreviewedTool};
pub use search::{FoundTool, SearchError};
pub(crate) use search::{SearchIndex, search};

/// The tools of the host that load others, by the names that they ask for.
const SEARCH_TOOL: &str = "tool_search";
const LOADING_TOOL: &str = "plugins.use";
