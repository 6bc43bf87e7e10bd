//! MCP: servers whose tools are used ([`upstream`]), and the endpoint that serves all tools ([`endpoint`]).

mod canonical;
mod endpoint;
mod envelope;
mod era;
mod hub;
mod invisible;
mod tokens;
mod upstream;
mod value;

use toolyard::ProviderKind;

pub use endpoint::{McpBody, McpEndpoint, McpEndpointConfig, McpHttp, McpPrincipal};
pub use hub::{McpEvent, McpEventKind, McpFeatures, McpHub, McpMembership, McpRefusal, McpRequest};
pub use upstream::{
    McpConfig, McpConnector, McpEra, McpHttpConfig, McpIsolation, McpOAuth, McpOAuthClient, McpOffer, McpOptions,
    McpPins, McpRoot, McpTransport, McpWay, Pin, PinChange, PinError, PinPolicy, PinState, PinView,
    describe_mcp_metrics, unforwardable,
};
pub use value::McpValue;

/// The kind of MCP providers.
pub const KIND: ProviderKind = ProviderKind::new("mcp");
