//! Book: what is pinned, and the file that it is kept in.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toolyard::JsonText;

use super::Pin;
use crate::mcp::canonical::canonical;

/// Bytes of the file.
const MAX_BYTES: u64 = 64 << 20;
/// The members of a declaration that are pinned.
const PINNED: [&str; 3] = ["name", "description", "inputSchema"];

/// Pins by server and tool.
pub(super) type Book = BTreeMap<String, BTreeMap<String, Pin>>;

/// Where the book is kept.
#[derive(Debug)]
pub(super) struct Shelf {
    /// Nowhere, where absent.
    file: Option<PathBuf>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document<B> {
    version: u32,
    providers: B,
}

// === impl Pin ===

impl Pin {
    /// Of a declaration as the server sent it.
    pub(super) fn of(raw: &JsonText) -> Self {
        let members = raw.members().unwrap_or_default();
        let pinned = members.iter().filter(|(key, _)| PINNED.contains(&key.as_str()));
        let object = JsonText::object(pinned.map(|(key, value)| (key.as_str(), value.clone())));
        let text = canonical(object.as_str());
        let sha256 = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        Self { sha256, definition: JsonText::parse(&text).unwrap_or(object) }
    }
}

// === impl Shelf ===

impl Shelf {
    pub(super) fn memory() -> Self {
        Self { file: None }
    }

    pub(super) fn file(file: PathBuf) -> Self {
        Self { file: Some(file) }
    }

    /// The book; an empty one where there is none yet.
    pub(super) fn read(&self) -> Result<Book, String> {
        let Some(file) = &self.file else { return Ok(Book::new()) };
        match read(file) {
            Ok(book) => Ok(book),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Book::new()),
            Err(error) => Err(format!("the pins in {} cannot be read: {error}", file.display())),
        }
    }

    /// Writes the book whole or not at all.
    pub(super) fn write(&self, book: &Book) -> Result<(), String> {
        let Some(file) = &self.file else { return Ok(()) };
        write(file, book).map_err(|error| format!("the pins cannot be saved in {}: {error}", file.display()))
    }
}

fn read(file: &Path) -> io::Result<Book> {
    let mut text = String::new();
    std::fs::File::open(file)?.take(MAX_BYTES).read_to_string(&mut text)?;
    let document: Document<Book> = serde_json::from_str(&text)?;
    if document.version == 1 {
        return Ok(document.providers);
    }
    Err(io::Error::other(format!("version {} is not known", document.version)))
}

fn write(file: &Path, book: &Book) -> io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut draft = tempfile::NamedTempFile::new_in(folder)?;
    serde_json::to_writer_pretty(draft.as_file_mut(), &Document { version: 1, providers: book })?;
    draft.as_file_mut().write_all(b"\n")?;
    draft.as_file_mut().sync_all()?;
    draft.persist(file).map_err(|error| error.error)?;
    Ok(())
}
