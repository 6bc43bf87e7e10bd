//! The file. Bounded by plugin: rows and bytes.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, InterruptHandle, OptionalExtension as _, Transaction, params, params_from_iter};
use toolyard::JsonText;

use super::super::ask::Refusal;
use super::arguments::{Field, Fields, Rows, Sorted};
use super::filters::Sql;

/// What one plugin may keep.
const MAX_ROWS: i64 = 100_000;
const MAX_BYTES: i64 = 64 << 20;
/// What one request may be answered with.
const MAX_FOUND: u32 = 10_000;
const MAX_FOUND_BYTES: usize = 8 << 20;
const BUSY: Duration = Duration::from_secs(2);

/// `usage` is kept by triggers, so that limits cost no count of all rows.
const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS rows (
        row INTEGER PRIMARY KEY, plugin TEXT NOT NULL, model TEXT NOT NULL, document TEXT NOT NULL
    );
    CREATE INDEX IF NOT EXISTS rows_of_model ON rows (plugin, model);
    CREATE TABLE IF NOT EXISTS ids (
        plugin TEXT NOT NULL, model TEXT NOT NULL, last INTEGER NOT NULL, PRIMARY KEY (plugin, model)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS usage (
        plugin TEXT NOT NULL PRIMARY KEY, rows INTEGER NOT NULL, bytes INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TRIGGER IF NOT EXISTS row_added AFTER INSERT ON rows BEGIN
        INSERT INTO usage VALUES (new.plugin, 1, length(CAST(new.document AS BLOB)))
        ON CONFLICT DO UPDATE SET rows = rows + 1, bytes = bytes + excluded.bytes;
    END;
    CREATE TRIGGER IF NOT EXISTS row_changed AFTER UPDATE ON rows BEGIN
        UPDATE usage SET bytes = bytes + length(CAST(new.document AS BLOB)) - length(CAST(old.document AS BLOB))
        WHERE plugin = new.plugin;
    END;
    CREATE TRIGGER IF NOT EXISTS row_removed AFTER DELETE ON rows BEGIN
        UPDATE usage SET rows = rows - 1, bytes = bytes - length(CAST(old.document AS BLOB)) WHERE plugin = old.plugin;
    END;
";

/// The open file.
#[derive(Debug)]
pub(super) struct Store {
    connection: Connection,
}

// === impl Store ===

impl Store {
    /// Opens the file, or makes it, readable by the daemon's user alone.
    pub(super) fn open(path: &Path) -> Result<Self, Refusal> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| closed(&error))?;
        }
        let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path);
        drop(file.map_err(|error| closed(&error))?);
        Self::connect(path).map_err(|error| closed(&error))
    }

    fn connect(path: &Path) -> rusqlite::Result<Self> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(BUSY)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "journal_size_limit", 16 << 20)?;
        connection.execute_batch(SCHEMA)?;
        Ok(Self { connection })
    }

    pub(super) fn interrupt_handle(&self) -> InterruptHandle {
        self.connection.get_interrupt_handle()
    }

    /// The documents of the rows, in order.
    pub(super) fn find(
        &self,
        plugin: &str,
        rows: &Rows,
        order: &[Sorted],
        limit: Option<u32>,
    ) -> Result<Vec<JsonText>, Refusal> {
        let mut sql = Sql::new("SELECT document FROM rows");
        sql.push_where(plugin, rows);
        sql.push_order(order);
        // One more than allowed, to tell "all" from "too many".
        let limit = limit.unwrap_or(u32::MAX).min(MAX_FOUND + 1);
        sql.push(" LIMIT CAST(? AS INTEGER)", [limit.to_string()]);
        let mut statement = self.connection.prepare(&sql.text).map_err(failed)?;
        let mut found = statement.query(params_from_iter(sql.values)).map_err(failed)?;
        let mut documents = Vec::new();
        let mut bytes = 0;
        while let Some(row) = found.next().map_err(failed)? {
            let document: String = row.get(0).map_err(failed)?;
            bytes += document.len();
            documents.push(JsonText::parse(&document).map_err(|error| closed(&error))?);
            if documents.len() > MAX_FOUND as usize || bytes > MAX_FOUND_BYTES {
                return Err(Refusal::failed(format!(
                    "more than {MAX_FOUND} rows or {MAX_FOUND_BYTES} bytes of `{}` match: give a smaller `limit`",
                    rows.model
                )));
            }
        }
        Ok(documents)
    }

    /// Adds a row; the next number is its `id` unless it has one. Gives the row.
    pub(super) fn insert(&mut self, plugin: &str, model: &str, data: Fields) -> Result<JsonText, Refusal> {
        let transaction = self.connection.transaction().map_err(failed)?;
        let row = insert(&transaction, plugin, model, data)?;
        check_usage(&transaction, plugin)?;
        transaction.commit().map_err(failed)?;
        Ok(row)
    }

    /// Changes the row whose field has this value, the oldest if there are several; adds one if there is none.
    pub(super) fn save(&mut self, plugin: &str, model: &str, data: Fields, key: &Field) -> Result<JsonText, Refusal> {
        let transaction = self.connection.transaction().map_err(failed)?;
        let rows = Rows { model: model.to_owned(), filters: vec![key.clone()] };
        let mut sql = Sql::new("SELECT row FROM rows");
        sql.push_where(plugin, &rows);
        sql.text.push_str(" ORDER BY row LIMIT 1");
        let known = transaction.query_row(&sql.text, params_from_iter(sql.values), |row| row.get::<_, i64>(0));
        let saved = match known.optional().map_err(failed)? {
            Some(row) => {
                change(&transaction, &data, |sql| sql.push(" WHERE row = CAST(? AS INTEGER)", [row.to_string()]))?;
                let document =
                    transaction.query_row("SELECT document FROM rows WHERE row = ?", [row], |row| row.get(0));
                JsonText::parse(&document.map_err(failed).map(|text: String| text)?).map_err(|error| closed(&error))?
            }
            None => {
                let mut data = data;
                if !data.iter().any(|(name, _)| *name == key.0) {
                    data.push(key.clone());
                }
                insert(&transaction, plugin, model, data)?
            }
        };
        check_usage(&transaction, plugin)?;
        transaction.commit().map_err(failed)?;
        Ok(saved)
    }

    /// Sets fields of rows; says of how many.
    pub(super) fn update(&mut self, plugin: &str, rows: &Rows, data: &Fields) -> Result<u64, Refusal> {
        let transaction = self.connection.transaction().map_err(failed)?;
        let changed = change(&transaction, data, |sql| sql.push_where(plugin, rows))?;
        check_usage(&transaction, plugin)?;
        transaction.commit().map_err(failed)?;
        Ok(changed)
    }

    /// Takes rows away; says how many.
    pub(super) fn delete(&mut self, plugin: &str, rows: &Rows) -> Result<u64, Refusal> {
        let mut sql = Sql::new("DELETE FROM rows");
        sql.push_where(plugin, rows);
        let removed = self.connection.execute(&sql.text, params_from_iter(sql.values)).map_err(failed)?;
        Ok(removed as u64)
    }

    pub(super) fn count(&self, plugin: &str, rows: &Rows) -> Result<u64, Refusal> {
        let mut sql = Sql::new("SELECT count(*) FROM rows");
        sql.push_where(plugin, rows);
        self.connection
            .query_row(&sql.text, params_from_iter(sql.values), |row| row.get::<_, i64>(0))
            .map(i64::unsigned_abs)
            .map_err(failed)
    }
}

fn insert(transaction: &Transaction<'_>, plugin: &str, model: &str, mut data: Fields) -> Result<JsonText, Refusal> {
    let given = data.iter().find(|(name, _)| name == "id").map(|(_, value)| value.clone());
    let number = given.as_ref().and_then(|id| id.to::<i64>().ok());
    if given.as_ref().is_none_or(|id| id.as_str() == "null") {
        let next = "INSERT INTO ids VALUES (?1, ?2, 1) ON CONFLICT DO UPDATE SET last = last + 1 RETURNING last";
        let id: i64 = transaction.query_row(next, params![plugin, model], |row| row.get(0)).map_err(failed)?;
        data.retain(|(name, _)| name != "id");
        data.insert(0, ("id".to_owned(), JsonText::from(serde_json::Value::from(id))));
    } else if let Some(number) = number {
        let last = "INSERT INTO ids VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET last = max(last, excluded.last)";
        transaction.execute(last, params![plugin, model, number]).map_err(failed)?;
    }
    let document = JsonText::object(data.iter().map(|(name, value)| (name.as_str(), value.clone())));
    let statement = "INSERT INTO rows (plugin, model, document) VALUES (?1, ?2, ?3)";
    transaction.execute(statement, params![plugin, model, document.as_str()]).map_err(failed)?;
    Ok(document)
}

fn change(transaction: &Transaction<'_>, data: &Fields, which: impl FnOnce(&mut Sql)) -> Result<u64, Refusal> {
    if data.is_empty() {
        return Ok(0);
    }
    let mut sql = Sql::new("UPDATE rows SET document = ");
    sql.push_changed(data);
    which(&mut sql);
    let changed = transaction.execute(&sql.text, params_from_iter(sql.values)).map_err(failed)?;
    Ok(changed as u64)
}

/// Called before the change is kept: over the limit, it is undone.
fn check_usage(transaction: &Transaction<'_>, plugin: &str) -> Result<(), Refusal> {
    let usage = transaction.query_row("SELECT rows, bytes FROM usage WHERE plugin = ?", [plugin], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
    });
    let (rows, bytes) = usage.optional().map_err(failed)?.unwrap_or_default();
    if rows > MAX_ROWS || bytes > MAX_BYTES {
        return Err(Refusal::failed(format!("a plugin may keep {MAX_ROWS} rows and {MAX_BYTES} bytes")));
    }
    Ok(())
}

fn failed(error: rusqlite::Error) -> Refusal {
    match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => Refusal::timeout("the database request was given up"),
        _ => closed(&error),
    }
}

fn closed(error: &dyn std::fmt::Display) -> Refusal {
    Refusal::failed(format!("the plugins' database cannot be used: {error}"))
}

#[cfg(test)]
impl Store {
    pub(super) fn usage(&self, plugin: &str) -> (i64, i64) {
        let query = "SELECT rows, bytes FROM usage WHERE plugin = ?";
        self.connection.query_row(query, [plugin], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    }
}
