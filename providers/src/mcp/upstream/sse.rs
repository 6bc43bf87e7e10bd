//! SseTransport: HTTP with server-sent events as in revision 2024-11-05. One stream for all that the server says; messages
//! to it are posted where its first event says.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, Response};
use tokio_util::task::AbortOnDropHandle;
use toolyard::{ErrorCode, ToolFailure};
use url::Url;

use super::http::{Event, EventParser, Gone, Letter, Link, Refused, content_type, too_large};
use super::transport::{Inbox, Outgoing, OutgoingKind, SendFailure};

/// Time for the server to say where messages go.
const OPEN: Duration = Duration::from_secs(10);

/// One service over the transport of 2024-11-05.
#[derive(Debug)]
pub(super) struct SseTransport {
    link: Arc<Link>,
    endpoint: Url,
    reader: AbortOnDropHandle<()>,
}

/// The stream, while it is read.
struct Stream {
    response: Response,
    parser: EventParser,
    max_message_bytes: usize,
    inbox: Arc<dyn Inbox>,
    gone: Gone,
}

// === impl SseTransport ===

impl SseTransport {
    /// Opens the stream and waits for the address that messages go to.
    ///
    /// # Errors
    /// There is no such stream, or it names no address of the same service in time.
    pub(super) async fn open(
        link: &Arc<Link>,
        inbox: &Arc<dyn Inbox>,
        max_message_bytes: usize,
        gone: Gone,
    ) -> Result<Self, ToolFailure> {
        let opening = async {
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("text/event-stream"))]);
            let letter = Letter { method: Method::GET, url: link.url().clone(), headers, body: None };
            let response = link.send(letter).await?;
            if !response.status().is_success() {
                let mut failure = Refused::read(response).await.failure();
                failure.message = link.redacted(&failure.message).into();
                return Err(failure);
            }
            if content_type(&response) != "text/event-stream" {
                return Err(protocol("the server gives no stream of events at its address"));
            }
            let parser = EventParser::new(max_message_bytes);
            let mut stream = Stream { response, parser, max_message_bytes, inbox: Arc::clone(inbox), gone };
            let (endpoint, first) = stream.endpoint().await?;
            let endpoint = same_service(link.url(), &endpoint)?;
            first.into_iter().for_each(|event| stream.take(event));
            Ok(Self { link: Arc::clone(link), endpoint, reader: AbortOnDropHandle::new(tokio::spawn(stream.read())) })
        };
        tokio::time::timeout(OPEN, opening).await.unwrap_or_else(|_elapsed| {
            Err(ToolFailure::not_sent(ErrorCode::ProviderDown, "the server did not say in time where messages go"))
        })
    }

    /// Posts a message. Its answer, if any, comes over the stream.
    ///
    /// # Errors
    /// It was not accepted.
    pub(super) async fn post(&self, message: &Outgoing) -> Result<(), SendFailure> {
        let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        if let OutgoingKind::Request { mirrored, .. } = &message.kind {
            for (name, value) in mirrored {
                if let (Ok(name), Ok(value)) =
                    (name.parse::<reqwest::header::HeaderName>(), HeaderValue::from_str(value))
                {
                    headers.insert(name, value);
                }
            }
        }
        let body = Some(Arc::from(message.text.as_str()));
        let letter = Letter { method: Method::POST, url: self.endpoint.clone(), headers, body };
        let response = self.link.send(letter).await.map_err(SendFailure::Failed)?;
        if response.status().is_success() {
            return Ok(());
        }
        let mut failure = Refused::read(response).await.failure();
        failure.message = self.link.redacted(&failure.message).into();
        Err(SendFailure::Failed(failure))
    }

    /// Ends the stream.
    pub(super) fn close(&self) {
        self.reader.abort();
    }
}

/// Messages hold what is meant for this service, and for no other.
fn same_service(service: &Url, endpoint: &str) -> Result<Url, ToolFailure> {
    let endpoint = service.join(endpoint).map_err(|_| protocol("the server names no address for messages"))?;
    if endpoint.origin() != service.origin() || !endpoint.username().is_empty() || endpoint.password().is_some() {
        return Err(protocol("the server wants messages to be sent to another service, which is not done"));
    }
    Ok(endpoint)
}

fn protocol(message: &'static str) -> ToolFailure {
    ToolFailure::not_sent(ErrorCode::ProviderProtocol, message)
}

// === impl Stream ===

impl Stream {
    /// What the event `endpoint` says, and the events that came with it.
    async fn endpoint(&mut self) -> Result<(String, Vec<Event>), ToolFailure> {
        while let Ok(Some(chunk)) = self.response.chunk().await {
            let mut events = self.parser.push(&chunk).into_iter();
            while let Some(event) = events.next() {
                match event {
                    Event::Named(name, data) if name == "endpoint" => {
                        return Ok((String::from_utf8_lossy(&data).trim().to_owned(), events.collect()));
                    }
                    event => self.take(event),
                }
            }
        }
        Err(protocol("the server's stream ended before it said where messages go"))
    }

    fn take(&self, event: Event) {
        match event {
            Event::Message(message) => self.inbox.receive(&message, None),
            Event::Named(..) => {}
            Event::TooLarge(ends) => too_large(&*self.inbox, &ends, self.max_message_bytes),
        }
    }

    async fn read(mut self) {
        while let Ok(Some(chunk)) = self.response.chunk().await {
            for event in self.parser.push(&chunk) {
                self.take(event);
            }
        }
        self.gone.tell("the server ended its stream");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_go_to_the_same_service_only() {
        let service: Url = "http://mcp.example:8080/sse".parse().unwrap();
        for (endpoint, expected) in [
            ("/messages?id=1", Some("http://mcp.example:8080/messages?id=1")),
            ("http://mcp.example:8080/m", Some("http://mcp.example:8080/m")),
            ("http://mcp.example/m", None),
            ("https://mcp.example:8080/m", None),
            ("//169.254.169.254/m", None),
            ("http://me:pw@mcp.example:8080/m", None),
        ] {
            assert_eq!(same_service(&service, endpoint).ok().as_ref().map(Url::as_str), expected, "{endpoint}");
        }
    }
}
