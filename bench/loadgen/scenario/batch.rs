//! `[[batches]]`: what batches look like.

use serde::Deserialize;

use super::error::hint;
use super::reader::Reader;
use super::tool::Tool;

/// One shape of batches.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BatchKeys {
    /// How often batches have this shape, beside the others.
    #[serde(default = "one")]
    pub(crate) weight: u32,
    /// Calls of a batch.
    pub(crate) calls: usize,
    /// The tools that its calls go to; all where absent.
    pub(crate) tools: Option<Vec<String>>,
}

fn one() -> u32 {
    1
}

// === impl BatchKeys ===

impl BatchKeys {
    pub(super) fn check_all(mut batches: Vec<Self>, tools: &[Tool], reader: &mut Reader<'_>) -> Vec<Self> {
        for (index, batch) in batches.iter().enumerate() {
            batch.check(&format!("batches/{index}"), tools, reader);
        }
        if !batches.is_empty() && batches.iter().all(|batch| batch.weight == 0) {
            reader.fault("batches/0", "weight", "every weight is 0".to_owned());
        }
        if batches.is_empty() {
            batches.push(Self { weight: 1, calls: 1, tools: None });
        }
        batches
    }

    /// The places of its tools in the list of all.
    pub(crate) fn tools_of<'t>(&self, tools: &'t [Tool]) -> impl Iterator<Item = (usize, &'t Tool)> {
        let has = move |tool: &Tool| self.tools.as_ref().is_none_or(|names| names.contains(&tool.family));
        let chosen: Vec<_> = tools.iter().enumerate().filter(|(_, tool)| has(tool)).collect();
        chosen.into_iter()
    }

    fn check(&self, section: &str, tools: &[Tool], reader: &mut Reader<'_>) {
        reader.within(section, "weight", f64::from(self.weight), 0.0, 1e6);
        reader.within(section, "calls", self.calls as f64, 1.0, 65_536.0);
        let known: Vec<&str> = tools.iter().map(|tool| tool.family.as_str()).collect();
        for name in self.tools.iter().flatten().filter(|name| !known.contains(&name.as_str())) {
            reader.fault(section, "tools", format!("there is no tool `{name}`{}", hint(name, &known)));
        }
        if self.tools_of(tools).map(|(_, tool)| tool.weight).sum::<f64>() <= 0.0 && !tools.is_empty() {
            reader.fault(section, "tools", "none of its tools has a weight".to_owned());
        }
    }
}
