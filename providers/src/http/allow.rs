//! AllowRule: what an operator lets plugins reach beside the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use ipnet::IpNet;
use serde::Deserialize;

/// One entry of `allow_private`: an address, a network or a host name, of one port or of all.
///
/// `127.0.0.1`, `127.0.0.1:8080`, `10.0.0.0/8`, `[::1]:8080`, `fd00::/8`, `canteen.lan` and `canteen.lan:8080` are read.
/// A host name allows whatever addresses it has.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct AllowRule {
    place: Place,
    /// All ports where absent.
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Network(IpNet),
    Host(String),
    /// This machine and the networks around it.
    Nearby,
}

/// A text that is no address, network or host name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no address, network or host name, such as 127.0.0.1:8080, 10.0.0.0/8 or canteen.lan")]
pub struct AllowRuleError(String);

// === impl AllowRule ===

impl AllowRule {
    /// Whether the rule lets a connection to this address and port of this host through.
    pub(super) fn allows(&self, host: &str, address: IpAddr, port: u16) -> bool {
        let is_place = match &self.place {
            Place::Network(network) => network.contains(&address.to_canonical()),
            Place::Host(name) => *name == host_key(host),
            Place::Nearby => is_nearby(address),
        };
        is_place && self.port.is_none_or(|own| own == port)
    }

    /// Allows this machine and the private networks around it: loopback, 10/8, 172.16/12, 192.168/16, 100.64/10 and
    /// fc00::/7. Addresses at which clouds keep the credentials of their machines stay closed.
    pub fn nearby() -> Self {
        Self { place: Place::Nearby, port: None }
    }

    /// Whether the rule names this host itself.
    pub(super) fn names(&self, host: &str) -> bool {
        matches!(&self.place, Place::Host(name) if *name == host_key(host))
    }

    fn network(address: IpAddr, port: Option<u16>) -> Self {
        Self { place: Place::Network(address.to_canonical().into()), port }
    }
}

impl FromStr for AllowRule {
    type Err = AllowRuleError;

    fn from_str(text: &str) -> Result<Self, AllowRuleError> {
        let text = text.trim();
        let unbracketed = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        if let Ok(address) = unbracketed.parse() {
            return Ok(Self::network(address, None));
        }
        if let Ok(network) = text.parse::<IpNet>() {
            return Ok(Self { place: Place::Network(network.trunc()), port: None });
        }
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Ok(Self::network(address.ip(), Some(address.port())));
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse().map_err(|_| AllowRuleError(text.to_owned()))?)),
            None => (text, None),
        };
        let is_name = !host.is_empty()
            && host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_'))
            // Half an address is no name.
            && !host.chars().all(|c| c.is_ascii_digit() || c == '.');
        if !is_name {
            return Err(AllowRuleError(text.to_owned()));
        }
        Ok(Self { place: Place::Host(host_key(host)), port })
    }
}

impl TryFrom<String> for AllowRule {
    type Error = AllowRuleError;

    fn try_from(text: String) -> Result<Self, AllowRuleError> {
        text.parse()
    }
}

fn is_nearby(address: IpAddr) -> bool {
    const METADATA: [IpAddr; 2] =
        [IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)), IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254))];
    let address = address.to_canonical();
    let is_private = match address {
        IpAddr::V4(v4) => v4.is_private() || matches!(v4.octets(), [100, 64..=127, ..]),
        IpAddr::V6(v6) => v6.is_unique_local(),
    };
    (is_private || address.is_loopback()) && !METADATA.contains(&address)
}

/// Host names are the same whatever their case, and with or without the dot of the root.
pub(super) fn host_key(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(rule: &str, host: &str, address: &str, port: u16) -> bool {
        rule.parse::<AllowRule>().unwrap().allows(host, address.parse().unwrap(), port)
    }

    #[test]
    fn a_rule_allows_its_place_and_port_and_nothing_else() {
        assert!(allows("127.0.0.1:8080", "localhost", "127.0.0.1", 8080));
        assert!(allows("127.0.0.1:8080", "localhost", "::ffff:127.0.0.1", 8080));
        assert!(!allows("127.0.0.1:8080", "localhost", "127.0.0.1", 8081));
        assert!(!allows("127.0.0.1:8080", "localhost", "127.0.0.2", 8080));
        assert!(allows("10.0.0.0/8", "a", "10.200.0.1", 1));
        assert!(!allows("10.0.0.0/8", "a", "11.0.0.1", 1));
        assert!(allows("fd00::/8", "a", "fd12::1", 443) && allows("[::1]:80", "a", "::1", 80));
        assert!(allows("Canteen.lan", "canteen.LAN.", "192.168.1.7", 443));
        assert!(!allows("canteen.lan:443", "canteen.lan", "192.168.1.7", 80));
        assert!(!allows("canteen.lan", "evil.canteen.lan", "192.168.1.7", 443));
    }

    #[test]
    fn what_is_nearby_is_this_machine_and_private_networks_and_never_a_metadata_service() {
        let nearby = AllowRule::nearby();
        for address in ["127.0.0.1", "::1", "::ffff:10.1.1.1", "192.168.7.7", "172.16.0.1", "100.64.0.1", "fd12::1"] {
            assert!(nearby.allows("x", address.parse().unwrap(), 1), "{address}");
        }
        for address in ["169.254.169.254", "100.100.100.200", "fd00:ec2::254", "fe80::1", "0.0.0.0", "224.0.0.1"] {
            assert!(!nearby.allows("x", address.parse().unwrap(), 1), "{address}");
        }
        assert!(!nearby.names("metadata"));
    }

    #[test]
    fn what_is_no_place_is_refused() {
        for text in ["", "10.0.0.0/33", "10.0.0", "a b", "http://x", "*", "host:port", "host:99999"] {
            assert!(text.parse::<AllowRule>().is_err(), "{text}");
        }
    }
}
