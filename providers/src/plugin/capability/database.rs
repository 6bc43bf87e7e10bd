//! `database.*`: rows of plugins, in one SQLite file of the daemon's.
//!
//! A row is a JSON document under the plugin and a model name; no plugin sees another's. One connection serves all, on
//! the pool for blocking work; a request whose plugin has given up is interrupted.

mod arguments;
mod filters;
mod store;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::InterruptHandle;
use tokio::sync::Mutex as AsyncMutex;
use toolyard::JsonText;

use super::ask::{Ask, Refusal};
use super::reply::success;
use arguments::Command;
use store::Store;

/// The rows of all plugins.
#[derive(Debug)]
pub(super) struct Database {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    /// Opened by the first request that needs it.
    store: Arc<AsyncMutex<Option<Store>>>,
    /// What runs now. Its lock is held while it is interrupted, so that no later request is hit.
    running: Mutex<Option<Running>>,
    next: std::sync::atomic::AtomicU64,
}

struct Running {
    job: u64,
    interrupt: InterruptHandle,
}

/// Interrupts its request when the plugin does not wait for it any more.
struct GiveUp {
    shared: Arc<Shared>,
    job: u64,
}

// === impl Database ===

impl Database {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            shared: Arc::new(Shared {
                path,
                store: Arc::default(),
                running: Mutex::default(),
                next: std::sync::atomic::AtomicU64::new(0),
            }),
        }
    }

    pub(super) async fn answer(&self, ask: &Ask) -> Result<JsonText, Refusal> {
        let command = Command::read(ask)?;
        let key = if ask.name == "database.count" { "count" } else { "result" };
        self.run(ask.plugin.to_string(), command).await.map(|value| success(key, value))
    }

    /// Waits for its turn (first come, first served), then for the connection. Dropping the future in between leaves
    /// nothing behind; dropping it while the request runs interrupts it.
    async fn run(&self, plugin: String, command: Command) -> Result<JsonText, Refusal> {
        let mut store = Arc::clone(&self.shared.store).lock_owned().await;
        let job = self.shared.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let _give_up = GiveUp { shared: Arc::clone(&self.shared), job };
        let shared = Arc::clone(&self.shared);
        let work = move || {
            let store = match &mut *store {
                Some(store) => store,
                empty @ None => empty.insert(Store::open(&shared.path)?),
            };
            shared.begin(job, store);
            let done = execute(store, &plugin, command);
            shared.end();
            done
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|error| Refusal::failed(format!("the database stopped: {error}")))?
    }
}

fn execute(store: &mut Store, plugin: &str, command: Command) -> Result<JsonText, Refusal> {
    match command {
        Command::Get { rows, order, limit, single } => {
            let found = store.find(plugin, &rows, &order, if single { Some(1) } else { limit })?;
            Ok(match single {
                true => found.into_iter().next().unwrap_or_else(JsonText::null),
                false => JsonText::array(found),
            })
        }
        Command::Insert { model, data } => store.insert(plugin, &model, data),
        Command::Save { model, data, key } => store.save(plugin, &model, data, &key),
        Command::Update { rows, data } => store.update(plugin, &rows, &data).map(number),
        Command::Delete { rows } => store.delete(plugin, &rows).map(number),
        Command::Count { rows } => store.count(plugin, &rows).map(number),
    }
}

fn number(count: u64) -> JsonText {
    JsonText::from(serde_json::Value::from(count))
}

// === impl Shared ===

impl Shared {
    fn begin(&self, job: u64, store: &Store) {
        let running = Running { job, interrupt: store.interrupt_handle() };
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(running);
    }

    fn end(&self) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

// === impl Running ===

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").field("job", &self.job).finish_non_exhaustive()
    }
}

// === impl GiveUp ===

impl Drop for GiveUp {
    fn drop(&mut self) {
        let running = self.shared.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = running.as_ref().filter(|running| running.job == self.job) {
            running.interrupt.interrupt();
        }
    }
}

#[cfg(test)]
mod tests;
