//! Assemblers: from the chunks of a streamed reply to the whole reply that the vendor would have sent without streaming.
//!
//! The assembled text is then read by the dialect's parser of whole replies, so streams and whole replies cannot
//! disagree. Nothing is decoded and printed again on the way: strings are joined as they are escaped, so digits, code
//! points and signatures arrive as they were sent, even when a server cuts a character in two.
//!
//! One assembler reads one reply. A chunk that cannot be read, or is of no known kind, is left out with a warning; it is
//! never taken for the end of the stream. What a stream without an end leaves incomplete is marked as cut off in the
//! form that the vendor has for it, so that no call runs on half its arguments.

mod anthropic;
mod bedrock;
mod gemini;
mod ledger;
mod members;
mod ollama;
mod openai_chat;
mod openai_responses;
mod sse;
mod text;

use std::fmt;

use super::Dialect;
use crate::json::JsonText;
use crate::json::outline::Node;

use ledger::Ledger;
use members::Members;
use sse::Event;

/// A whole reply, put together from a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssembledReply {
    /// The reply in the vendor's whole form.
    pub reply: JsonText,
    /// What was left out or odd, at most 33 sentences. They hold no text of the model or of an error, only type names.
    pub warnings: Vec<String>,
    /// Whether the stream said that it is complete. Without it the connection broke, or the vendor reported an error.
    pub ended: bool,
}

/// Why a stream gives no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// It holds more bytes, calls or blocks than allowed.
    #[error("the streamed reply has more bytes, or more than 1,024 calls or blocks, than are allowed")]
    TooLarge,
    /// The dialect has no streams.
    #[error("the form {0} has no streams")]
    NoStreams(Dialect),
}

/// Puts one streamed reply together.
///
/// It holds at most `max_bytes` bytes of the reply (escaped as in JSON, with a small charge per item) and at most
/// 1,024 calls or blocks.
#[derive(Debug)]
pub struct StreamAssembler {
    state: Box<dyn Assemble>,
    ledger: Ledger,
    finished: Option<Result<AssembledReply, StreamError>>,
}

/// What one form does with its frames.
trait Assemble: fmt::Debug + Send + Sync {
    /// Takes one frame, a JSON object.
    fn frame(&mut self, frame: &Members<'_>, ledger: &mut Ledger);

    /// The vendor reported an error: what follows, if anything, is no proper end.
    fn fail(&mut self) {}

    /// The stream's own end mark, `[DONE]`.
    fn done(&mut self) {}

    /// The whole reply, and whether the stream ended properly.
    fn reply(&self, ledger: &mut Ledger) -> (JsonText, bool);
}

// === impl StreamAssembler ===

impl StreamAssembler {
    /// An assembler for one streamed reply of this dialect, of at most `max_bytes` bytes.
    ///
    /// # Errors
    /// The dialect has no streams.
    pub fn new(dialect: Dialect, max_bytes: usize) -> Result<Self, StreamError> {
        let state: Box<dyn Assemble> = match dialect {
            Dialect::OpenAiChat => Box::new(openai_chat::OpenAiChat::default()),
            Dialect::OpenAiResponses => Box::new(openai_responses::OpenAiResponses::default()),
            Dialect::Anthropic => Box::new(anthropic::Anthropic::default()),
            Dialect::Gemini => Box::new(gemini::Gemini::default()),
            Dialect::Ollama => Box::new(ollama::Ollama::default()),
            Dialect::Bedrock => Box::new(bedrock::Bedrock::default()),
            Dialect::Mcp | Dialect::Native => return Err(StreamError::NoStreams(dialect)),
        };
        Ok(Self { state, ledger: Ledger::new(max_bytes), finished: None })
    }

    /// Takes whole chunks: one JSON value, a list of them, or lines of JSON or of server-sent events (`data:`; other
    /// fields, comments, blank lines and `[DONE]` are no chunks). A line must not be split over two pushes. After
    /// [`StreamAssembler::finish`] nothing is taken, with a warning.
    pub fn push(&mut self, chunk: &str) {
        match &mut self.finished {
            Some(Ok(reply)) => return ledger::warn(&mut reply.warnings, "a chunk came after the end and was left out"),
            Some(Err(_)) => return,
            None => {}
        }
        let (state, ledger) = (&mut *self.state, &mut self.ledger);
        sse::each(chunk, &mut |event| match event {
            _ if ledger.is_too_large() => {}
            Event::Value(outline) => take(state, ledger, outline.root()),
            Event::Done => state.done(),
            Event::Undecodable => ledger.warn("a chunk that is not JSON was left out"),
        });
    }

    /// The whole reply of what was pushed. Calling it again gives the same.
    ///
    /// # Errors
    /// The reply is larger than allowed.
    pub fn finish(&mut self) -> Result<AssembledReply, StreamError> {
        if let Some(finished) = &self.finished {
            return finished.clone();
        }
        let finished = if self.ledger.is_too_large() {
            Err(StreamError::TooLarge)
        } else {
            let (reply, ended) = self.state.reply(&mut self.ledger);
            Ok(AssembledReply { reply, warnings: self.ledger.take_warnings(), ended })
        };
        self.finished = Some(finished.clone());
        finished
    }
}

fn take(state: &mut dyn Assemble, ledger: &mut Ledger, chunk: Node<'_>) {
    match chunk.items() {
        Some(frames) => frames.into_iter().for_each(|frame| take_one(state, ledger, frame)),
        None => take_one(state, ledger, chunk),
    }
}

fn take_one(state: &mut dyn Assemble, ledger: &mut Ledger, chunk: Node<'_>) {
    let Some(frame) = Members::parse(chunk) else {
        return ledger.warn("a chunk that is no readable JSON object was left out");
    };
    if let Some(error) = frame.get("error") {
        ledger.warn(format!("the vendor reported an error: {}", members::error_type(error)));
        state.fail();
        if frame.get("choices").is_none() {
            return;
        }
    }
    state.frame(&frame, ledger);
}

#[cfg(test)]
mod tests;
