//! Search: finding deferred tools by words (seeds 000 and 002, `tool_search`).

use std::sync::Arc;

use memchr::memmem::Finder;
use serde::Serialize;

use super::CatalogueEntry;
use super::catalogue::source;
use crate::gate::{self, Caller};
use crate::policy::Ranking;
use crate::registry::{Route, RoutingTable};
use crate::tool::ToolId;

/// Characters of a query.
const MAX_QUERY: usize = 256;
/// Words of a query that count by themselves.
const MAX_WORDS: usize = 16;
/// Tools that one search may ask for.
const MAX_FOUND: usize = 50;

/// A tool that a search has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FoundTool {
    /// The name under which a model will call it, whose it is, and what it does.
    #[serde(flatten)]
    pub entry: CatalogueEntry,
    /// Its id, as it stands in a [`crate::LoadedSet`].
    pub tool_id: ToolId,
    /// Whether the session had not loaded it before.
    pub is_new: bool,
    /// Points in MaiBot's ranking (more is better), the rank in LenBot's (0 is best).
    pub score: u32,
}

/// Why nothing was searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// There is nothing to look for.
    #[error("query must not be blank")]
    Blank,
    /// The query is too long.
    #[error("query must not be longer than {MAX_QUERY} characters")]
    TooLong,
}

/// The texts of the deferred tools in small letters, made once for each routing table.
#[derive(Debug, Default)]
pub(crate) struct SearchIndex(Box<[Indexed]>);

#[derive(Debug)]
struct Indexed {
    /// Place in the routing table.
    route: usize,
    name: Box<str>,
    /// The name that the tool wanted, where a model name cannot show it.
    wanted: Option<Box<str>>,
    summary: Box<str>,
    /// The whole description, where it is not the summary.
    description: Option<Box<str>>,
}

/// What is looked for, in small letters.
struct Query {
    text: String,
    whole: Finder<'static>,
    words: Vec<Finder<'static>>,
}

/// Looks for deferred tools that the caller could use, the best first. Those that it has loaded are found too.
///
/// # Errors
/// The query is blank or too long.
pub(crate) fn search(
    table: &RoutingTable,
    caller: &Caller<'_>,
    query: &str,
    limit: Option<usize>,
) -> Result<Vec<FoundTool>, SearchError> {
    let query = Query::read(query)?;
    let policy = &caller.policy.discovery;
    let (usual, most) = match policy.ranking {
        Ranking::MaiBot => (policy.search_limit, MAX_FOUND),
        Ranking::LenBot => (policy.search_limit, policy.search_limit),
    };
    let limit = limit.unwrap_or(usual).min(most).max(1);
    let ranked = table.search_index().ranked(&query, policy.ranking);
    let usable = ranked.into_iter().filter(|(_, route)| gate::may_find(&table.routes[*route].tool, caller).is_ok());
    Ok(usable.take(limit).map(|(score, route)| found(&table.routes[route], caller, score)).collect())
}

fn found(route: &Route, caller: &Caller<'_>, score: u32) -> FoundTool {
    let tool = &route.tool;
    let is_new = !gate::is_found(tool, caller);
    FoundTool { entry: CatalogueEntry::of(route), tool_id: tool.origin.tool_id.clone(), is_new, score }
}

// === impl SearchIndex ===

impl SearchIndex {
    pub(crate) fn new(routes: &[Route]) -> Self {
        let routes = routes.iter().enumerate();
        let deferred = routes.filter(|(_, route)| gate::is_deferred(&route.tool) && !route.tool.spec.flags.on_demand);
        Self(deferred.map(|(place, route)| Indexed::new(place, route)).collect())
    }

    /// Every tool that the query fits, the best first: equal ones by name, as the table has them.
    fn ranked(&self, query: &Query, ranking: Ranking) -> Vec<(u32, usize)> {
        let rank = |tool: &Indexed| match ranking {
            Ranking::MaiBot => tool.points(query).filter(|points| *points > 0),
            Ranking::LenBot => tool.rank(query),
        };
        let mut ranked: Vec<_> = self.0.iter().filter_map(|tool| Some((rank(tool)?, tool.route))).collect();
        ranked.sort_by(|a, b| match ranking {
            Ranking::MaiBot => b.0.cmp(&a.0).then(a.1.cmp(&b.1)),
            Ranking::LenBot => a.cmp(b),
        });
        ranked
    }
}

// === impl Indexed ===

impl Indexed {
    fn new(place: usize, route: &Route) -> Self {
        let spec = &route.tool.spec;
        let small = |text: &str| text.to_lowercase().into_boxed_str();
        let (name, wanted) = (small(&route.model_name), small(&route.tool.wanted_name));
        // What the host puts in front of every description tells no tool from another.
        let description = spec.description.as_str();
        let own = description.strip_prefix(&format!("[{}] ", source(spec))).unwrap_or(description);
        let (summary, description) = (small(spec.brief()), small(own));
        Self {
            route: place,
            wanted: (wanted != name).then_some(wanted),
            description: (description != summary).then_some(description),
            name,
            summary,
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        [Some(&*self.name), self.wanted.as_deref()].into_iter().flatten()
    }

    /// Of MaiBot's ranking. Of two names the better one counts.
    fn points(&self, query: &Query) -> Option<u32> {
        let of_names = self.names().map(|name| query.points_of(name)).max()?;
        let in_summary = |finder: &Finder<'_>| finder.find(self.summary.as_bytes()).is_some();
        let of_summary = u32::from(in_summary(&query.whole)) * 100;
        let of_words: u32 = query.words.iter().map(|word| u32::from(in_summary(word)) * 10).sum();
        Some(of_names + of_summary + of_words)
    }

    /// Of LenBot's ranking; nothing where the query does not fit.
    fn rank(&self, query: &Query) -> Option<u32> {
        let has = |text: &str| query.whole.find(text.as_bytes()).is_some();
        if self.names().any(|name| name == query.text) {
            return Some(0);
        }
        if self.names().any(|name| name.starts_with(&query.text)) {
            return Some(1);
        }
        let is_there = self.names().any(has) || has(&self.summary) || self.description.as_deref().is_some_and(has);
        is_there.then_some(2)
    }
}

// === impl Query ===

impl Query {
    fn read(text: &str) -> Result<Self, SearchError> {
        if text.chars().nth(MAX_QUERY).is_some() {
            return Err(SearchError::TooLong);
        }
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        if text.is_empty() {
            return Err(SearchError::Blank);
        }
        let finder = |text: &str| Finder::new(text.as_bytes()).into_owned();
        let words = text.split([' ', '_', '-']).filter(|word| !word.is_empty()).take(MAX_WORDS);
        Ok(Self { whole: finder(&text), words: words.map(finder).collect(), text })
    }

    fn points_of(&self, name: &str) -> u32 {
        let is_there = |finder: &Finder<'_>| finder.find(name.as_bytes()).is_some();
        let whole = u32::from(name == self.text) * 1_000
            + u32::from(name.starts_with(&self.text)) * 300
            + u32::from(is_there(&self.whole)) * 200;
        whole + self.words.iter().map(|word| u32::from(is_there(word)) * 25).sum::<u32>()
    }
}

// === impl FoundTool ===

impl FoundTool {
    /// The name under which a model will call it.
    pub fn name(&self) -> &Arc<str> {
        &self.entry.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indexed(name: &str, summary: &str, description: &str) -> Indexed {
        Indexed {
            route: 0,
            name: name.into(),
            wanted: None,
            summary: summary.into(),
            description: Some(description.into()),
        }
    }

    fn points(name: &str, query: &str) -> u32 {
        indexed(name, "-", "-").points(&Query::read(query).unwrap()).unwrap()
    }

    #[test]
    fn the_worked_points_come_out() {
        assert_eq!(points("get_weather", "get_weather"), 1_550);
        assert_eq!(points("get_weather", "  Get_Weather "), 1_550);
        assert_eq!(points("weather_alert", "weather"), 525);
        assert_eq!(points("get_weather", "weather"), 225);
        assert_eq!(points("unlike", "weather"), 0);
    }

    #[test]
    fn the_summary_counts_less_than_the_name_and_the_description_not_at_all() {
        let tool = indexed("a", "shows the weather report", "tells of storms");
        let points = |query: &str| tool.points(&Query::read(query).unwrap());
        assert_eq!((points("weather"), points("report-weather"), points("storms")), (Some(110), Some(20), Some(0)));
    }

    #[test]
    fn ranks_are_the_name_its_beginning_and_a_part_of_anything() {
        let tool = indexed("get_weather", "shows a report", "tells of storms");
        let rank = |query: &str| tool.rank(&Query::read(query).unwrap());
        assert_eq!([rank("GET_WEATHER"), rank("get"), rank("weather")], [Some(0), Some(1), Some(2)]);
        assert_eq!([rank("a report"), rank("storms"), rank("rain")], [Some(2), Some(2), None]);
    }

    #[test]
    fn queries_are_neither_blank_nor_endless() {
        assert_eq!(Query::read(" \n\t").err(), Some(SearchError::Blank));
        assert_eq!(Query::read(&"天".repeat(257)).err(), Some(SearchError::TooLong));
        assert_eq!(Query::read(&"a ".repeat(128)).unwrap().words.len(), MAX_WORDS);
    }
}
