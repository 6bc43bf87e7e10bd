//! Reading: each table for itself, so that one mistake hides no other.

use std::collections::HashMap;
use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::batch::BatchKeys;
use super::error::{Fault, ScenarioErrors, explain, hint};
use super::load::{LoadKeys, PhaseKeys};
use super::objective::ObjectiveKeys;
use super::target::{TargetKeys, TargetKind};
use super::tool::{Tool, ToolKeys};
use super::way::MixKeys;
use super::{Overrides, Scenario};

const SECTIONS: [&str; 8] = ["name", "seed", "target", "load", "phases", "batches", "tools", "objectives"];

type Section<'i> = Spanned<DeValue<'i>>;

/// Collects what is wrong while the tables are read.
pub(super) struct Reader<'t> {
    text: &'t str,
    faults: Vec<Fault>,
    /// Where the keys of a section stand; the section itself under the empty key.
    places: HashMap<(String, String), Range<usize>>,
}

pub(super) fn read(source: &str, text: &str, overrides: &Overrides) -> Result<Scenario, ScenarioErrors> {
    let mut reader = Reader { text, faults: Vec::new(), places: HashMap::new() };
    let scenario = reader.document(overrides);
    match scenario {
        Some(scenario) if reader.faults.is_empty() => Ok(scenario),
        _ => Err(ScenarioErrors::new(source, reader.faults)),
    }
}

// === impl Reader ===

impl Reader<'_> {
    fn document(&mut self, overrides: &Overrides) -> Option<Scenario> {
        let mut table = match DeTable::parse(self.text) {
            Ok(table) => table.into_inner(),
            Err(error) => {
                self.faults.push(Fault::at(self.text, error.span(), "", error.message().to_owned()));
                return None;
            }
        };
        for (key, _) in table.iter().filter(|(key, _)| !SECTIONS.contains(&key.get_ref().as_ref())) {
            let unknown = key.get_ref().as_ref();
            let message = format!("unknown section `{unknown}`{}", hint(unknown, &SECTIONS));
            self.faults.push(Fault::at(self.text, Some(key.span()), "", message));
        }
        let mut take = |name: &str| table.remove(name);
        let name = take("name").and_then(|name| self.section("name", name));
        let seed = take("seed").and_then(|seed| self.section("seed", seed));
        let target = take("target");
        let load = take("load").map_or_else(|| Some(LoadKeys::default()), |load| self.section("load", load));
        let phases: Vec<PhaseKeys> = take("phases").map(|phases| self.list("phases", phases)).unwrap_or_default();
        let batches = take("batches").map(|batches| self.list("batches", batches)).unwrap_or_default();
        let tools = take("tools").map(|tools| self.entries("tools", tools)).unwrap_or_default();
        let objectives = take("objectives").and_then(|value| self.section("objectives", value));
        let target = self.target(target, overrides);
        let load = load.inspect(|load| load.check(self));
        let phases = load.as_ref().map(|load| load.phases(phases, self)).unwrap_or_default();
        // Until the target is known, nothing can be wrong for its kind.
        let is_remote = target.as_ref().is_some_and(TargetKeys::is_remote);
        let tools = self.tools(tools, is_remote);
        let batches = BatchKeys::check_all(batches, &tools, self);
        let objectives: ObjectiveKeys = objectives.unwrap_or_default();
        objectives.check(self);
        Some(Scenario {
            name: name.unwrap_or_default(),
            seed: seed.unwrap_or(1),
            target: target?,
            load: load?,
            phases,
            batches,
            tools,
            objectives,
        })
    }

    fn target(&mut self, value: Option<Section<'_>>, overrides: &Overrides) -> Option<TargetKeys> {
        let Some(value) = value else {
            let message = "there is no [target]; the least is `kind = \"embedded\"` in it".to_owned();
            self.faults.push(Fault { place: None, section: String::new(), message });
            return None;
        };
        let mut target: TargetKeys = self.section("target", value)?;
        overrides.apply(&mut target);
        target.check(self);
        Some(target)
    }

    fn tools(&mut self, entries: Vec<Section<'_>>, is_remote: bool) -> Vec<Tool> {
        let mut tools: Vec<Tool> = Vec::new();
        for (index, entry) in entries.into_iter().enumerate() {
            let section = format!("tools/{index}");
            let (mix, rest) = without(entry, "mix");
            let mix: Vec<MixKeys> = mix.map(|mix| self.list(&format!("{section}/mix"), mix)).unwrap_or_default();
            let Some(keys) = self.section::<ToolKeys>(&section, rest) else { continue };
            let made = keys.tools(&section, &mix, is_remote, self);
            if let Some(twice) = made.iter().find(|tool| tools.iter().any(|earlier| earlier.name == tool.name)) {
                let message = format!("there is a tool `{}` already", twice.name);
                self.fault(&section, "name", message);
            }
            tools.extend(made);
        }
        if tools.is_empty() && self.faults.is_empty() {
            tools.push(Tool::nothing());
        }
        tools
    }

    /// The entries of a list of tables, each read.
    fn list<T: DeserializeOwned>(&mut self, section: &str, value: Section<'_>) -> Vec<T> {
        let entries = self.entries(section, value).into_iter().enumerate();
        entries.filter_map(|(index, entry)| self.section(&format!("{section}/{index}"), entry)).collect()
    }

    fn entries<'i>(&mut self, section: &str, value: Section<'i>) -> Vec<Section<'i>> {
        let span = value.span();
        match value.into_inner() {
            DeValue::Array(entries) => entries.into_iter().collect(),
            _ => {
                let section = section.split('/').next().unwrap_or_default();
                let message = format!("must be written as [[{section}]]");
                self.faults.push(Fault::at(self.text, Some(span), section, message));
                Vec::new()
            }
        }
    }

    /// Reads one table. Every key that nobody knows is reported, not only the first.
    fn section<T: DeserializeOwned>(&mut self, section: &str, value: Section<'_>) -> Option<T> {
        let span = value.span();
        let mut value = value.into_inner();
        self.places.insert((section.to_owned(), String::new()), span.clone());
        if let DeValue::Table(table) = &value {
            for key in table.keys() {
                self.places.insert((section.to_owned(), key.get_ref().to_string()), key.span());
            }
        }
        let mut sound = true;
        loop {
            let attempt = Spanned::new(span.clone(), value.clone());
            match T::deserialize(ValueDeserializer::from(attempt)) {
                Ok(read) => return sound.then_some(read),
                // What is missing is most likely what was misspelt.
                Err(error) if !sound && error.message().starts_with("missing field") => return None,
                Err(error) => {
                    self.faults.push(Fault::at(self.text, error.span(), section, explain(error.message())));
                    sound = false;
                    if !remove_unknown(&mut value, &error) {
                        return None;
                    }
                }
            }
        }
    }

    /// Whether the section has this key.
    pub(super) fn has(&self, section: &str, key: &str) -> bool {
        self.places.contains_key(&(section.to_owned(), key.to_owned()))
    }

    /// A mistake at a key, or at its section where the key is not given.
    pub(super) fn fault(&mut self, section: &str, key: &str, message: String) {
        let place = |key: &str| self.places.get(&(section.to_owned(), key.to_owned())).cloned();
        let span = place(key).or_else(|| place(""));
        let message = if key.is_empty() { message } else { format!("{key}: {message}") };
        self.faults.push(Fault::at(self.text, span, section, message));
    }

    /// A number that is out of its range is a mistake.
    pub(super) fn within(&mut self, section: &str, key: &str, number: f64, least: f64, most: f64) {
        if !(least..=most).contains(&number) {
            self.fault(section, key, format!("must be {least} to {most}, not {number}"));
        }
    }
}

// === impl Overrides ===

impl Overrides {
    fn apply(&self, target: &mut TargetKeys) {
        if let Some(url) = &self.url {
            target.url = Some(url.clone());
        }
        // Where only the configuration is printed, nothing is reached.
        if self.needs_no_url && target.kind != TargetKind::Embedded && target.url.is_none() {
            target.url = Some("http://127.0.0.1:7700".to_owned());
        }
        target.pid = self.pid.or(target.pid);
    }
}

/// A table in two: one key's value, and the others.
fn without<'i>(value: Section<'i>, key: &str) -> (Option<Section<'i>>, Section<'i>) {
    let span = value.span();
    match value.into_inner() {
        DeValue::Table(mut table) => (table.remove(key), Spanned::new(span, DeValue::Table(table))),
        // What is wrong with it is said when it is read.
        other => (None, Spanned::new(span, other)),
    }
}

/// Takes the key out that an error points at, so that reading can go on behind it.
fn remove_unknown(value: &mut DeValue<'_>, error: &toml::de::Error) -> bool {
    let (DeValue::Table(table), Some(span)) = (value, error.span()) else { return false };
    if !error.message().starts_with("unknown field") {
        return false;
    }
    let Some(key) = table.keys().find(|key| key.span() == span).cloned() else { return false };
    table.remove(&key).is_some()
}
