//! ToolExecutionResult: what a tool gave back (seed 001, section 3.9).

use std::sync::Arc;

use super::content::object_size;
use super::media::may_hold_media;
use super::{ContentItem, Metadata, TextLimit, history};
use crate::json::{JsonText, readable};
use crate::session::LoadedSet;

/// What a tool gave back. A tool that ran and failed is a result too, with `success = false`.
#[derive(Clone, Debug, Default)]
pub struct ToolExecutionResult {
    /// Name of the tool that ran; the engine fills it in.
    pub tool_name: Option<Arc<str>>,
    /// Whether the tool did what it was asked to.
    pub success: bool,
    /// Text for the model.
    pub content: String,
    /// What went wrong, when `success` is false.
    pub error_message: Option<String>,
    /// Structured result of any JSON type. `null` is a tool that gave `null` back, which says nothing to the model.
    pub structured_content: Option<JsonText>,
    /// Pictures, sound and other items.
    pub content_items: Vec<ContentItem>,
    /// Messages that the tool wants in the history after its result, in the caller's own form.
    pub post_history_messages: Vec<JsonText>,
    /// Whatever else the tool says; goes to the caller, never to the model.
    pub metadata: Metadata,
    /// The result as the tool's own protocol gave it, where [`crate::ToolBatch::native_results`] asks for it.
    pub native: Option<JsonText>,
    /// What the result asks of the batch and the session.
    pub effects: ResultEffects,
}

/// What a result asks of its batch and its session; applied when the batch is aggregated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResultEffects {
    /// Stop the planner's run after this batch (seed 000, `stop_after_execution`). Counts only on success.
    pub stop_after_execution: bool,
    /// Deferred tools that the session has found by it, callable from the next batch on. Counts only on success.
    pub loaded: Option<Box<LoadedSet>>,
}

// === impl ToolExecutionResult ===

impl ToolExecutionResult {
    /// A success with this text.
    pub fn success(content: impl Into<String>) -> Self {
        Self { success: true, content: content.into(), ..Self::default() }
    }

    /// A failure of the tool itself, with a sentence for the model.
    pub fn failure(message: impl Into<String>) -> Self {
        Self { error_message: Some(message.into()), ..Self::default() }
    }

    /// A success with structured content and no text of its own.
    pub fn structured(content: JsonText) -> Self {
        Self { success: true, structured_content: Some(content), ..Self::default() }
    }

    /// The same result, asking to stop the run after the batch.
    #[must_use]
    pub fn stopping(mut self) -> Self {
        self.effects.stop_after_execution = true;
        self
    }

    /// The same result, loading these tools for the session.
    #[must_use]
    pub fn loading(mut self, loaded: LoadedSet) -> Self {
        self.effects.loaded = Some(Box::new(loaded));
        self
    }

    /// The text for the history, by seed 001 section 5.5: content, then summaries of the items, then the structured
    /// content as JSON, then the error; the first that is not empty.
    ///
    /// `call_id` names the media, as `tool_result:<call_id>:<n>`.
    pub fn history_content(&self, call_id: &str) -> String {
        history::text(self, call_id).into_owned()
    }

    /// Sees to it that usual parsers can read every part of the result inside of a batch's outcome: one that they refuse
    /// would cost the results beside it too. Halves of characters are replaced; what is too deep or too large is an error.
    ///
    /// A result that is only text costs nothing here.
    pub(crate) fn make_readable(&mut self) -> Result<(), String> {
        self.structured_content = self.structured_content.take().map(JsonText::with_whole_characters);
        for message in &mut self.post_history_messages {
            *message = message.clone().with_whole_characters();
        }
        let structured = self.structured_content.iter().map(|json| ("structured content", json.check_readable()));
        let messages = self.post_history_messages.iter().map(|json| ("post-history messages", json.check_readable()));
        let metadata = std::iter::once(("metadata", readable::check_members(&self.metadata)));
        let items = self.content_items.iter().map(|item| ("content items", readable::check_members(&item.metadata)));
        let mut parts = structured.chain(messages).chain(metadata).chain(items);
        parts.try_for_each(|(part, checked)| checked.map_err(|unreadable| format!("part of its {part} {unreadable}")))
    }

    /// Whether it is a success that only says a text within the limit, in which there is nothing to lift: then there is
    /// nothing more to look at.
    pub(crate) fn is_short_text(&self, limit: TextLimit) -> bool {
        self.success
            && self.error_message.is_none()
            && self.structured_content.is_none()
            && self.content_items.is_empty()
            && self.post_history_messages.is_empty()
            && self.metadata.is_empty()
            && self.native.is_none()
            && limit.is_certainly_kept_by(&self.content)
            && !may_hold_media(&self.content)
    }

    /// Bytes that the result carries, for the limit on results.
    pub(crate) fn size(&self) -> usize {
        self.content.len()
            + self.error_message.as_ref().map_or(0, String::len)
            + self.structured_content.as_ref().map_or(0, |json| json.as_str().len())
            + self.content_items.iter().map(ContentItem::size).sum::<usize>()
            + self.post_history_messages.iter().map(|message| message.as_str().len()).sum::<usize>()
            + object_size(&self.metadata)
    }
}
