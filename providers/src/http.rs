//! Declarative plugins (seed 003): a document declares tools whose calls are HTTP requests.
//!
//! One incarnation is one reading of the document, with its secrets and its connections.

mod address;
mod allow;
mod body;
mod client;
mod connector;
mod document;
mod pick;
mod provider;
mod redact;
mod request;
mod resolve;
mod response;
mod secret;
mod template;
mod url_template;

use toolyard::ProviderKind;

pub use allow::{AllowRule, AllowRuleError};
pub use client::install_crypto_provider;
#[cfg(feature = "mcp")]
pub(crate) use client::{Clients, cause, connection_failure};
pub(crate) use connector::SECRET;
pub use connector::{HttpConfig, HttpConnector};
pub use document::{DocumentError, DocumentErrors, DocumentFormat, HttpPlugin, check_document};
#[cfg(feature = "mcp")]
pub(crate) use resolve::{Guard, Refused};
pub use resolve::{Resolver, SystemResolver};

/// The kind of declarative plugins.
pub const KIND: ProviderKind = ProviderKind::new("http");
