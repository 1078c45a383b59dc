//! Routes as a user writes them: one `PREFIX/LENGTH via MAC` a line.

use core::fmt;
use std::net::IpAddr;

/// Where a route leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextHop {
    /// Link address of the next router.
    pub mac: [u8; 6],
}

/// A prefix and its next hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Network; bits behind the length are ignored.
    pub prefix: IpAddr,
    /// Length in bits: 0 to 32, or to 128.
    pub length: u8,
    /// Where it leads.
    pub hop: NextHop,
}

/// A line that is no route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteError {
    /// Line number, from 1.
    pub line: usize,
    /// What was found.
    pub found: String,
}

impl fmt::Display for RouteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RouteError { line, found } = self;
        write!(f, "line {line}: `{found}` is no route; allowed: `10.0.0.0/8 via 02:00:00:00:00:0a`")
    }
}

impl std::error::Error for RouteError {}

/// Reads routes; empty lines and what follows a `#` do not count.
///
/// # Errors
/// The first line that is no route.
pub fn parse_routes(text: &str) -> Result<Vec<Route>, RouteError> {
    let mut routes = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if !line.is_empty() {
            routes.push(route(line).ok_or_else(|| RouteError { line: i + 1, found: line.to_owned() })?);
        }
    }
    Ok(routes)
}

fn route(line: &str) -> Option<Route> {
    let (network, hop) = line.split_once(" via ")?;
    let (prefix, length) = network.trim().split_once('/')?;
    let (prefix, length): (IpAddr, u8) = (prefix.parse().ok()?, length.parse().ok()?);
    let longest = if prefix.is_ipv4() { 32 } else { 128 };
    let mut mac = [0; 6];
    let mut parts = hop.trim().split(':');
    for byte in &mut mac {
        *byte = u8::from_str_radix(parts.next()?, 16).ok()?;
    }
    (length <= longest && parts.next().is_none()).then_some(Route { prefix, length, hop: NextHop { mac } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_routes_and_names_the_bad_line() {
        let text = "# the default\n0.0.0.0/0 via 02:00:00:00:00:01\n\n2001:db8::/32 via 0a:b:c:d:e:f # six\n";
        let routes = parse_routes(text).unwrap();
        assert_eq!(routes.len(), 2);
        assert_eq!(routes[1].hop.mac, [10, 11, 12, 13, 14, 15]);
        for bad in
            ["10.0.0.0/33 via 2:0:0:0:0:1", "10.0.0.0 via 2:0:0:0:0:1", "10.0.0.0/8 via 2:0:0:0:0", "x"]
        {
            let error = parse_routes(&format!("\n{bad}")).unwrap_err();
            assert_eq!((error.line, error.found.as_str()), (2, bad));
        }
    }
}
