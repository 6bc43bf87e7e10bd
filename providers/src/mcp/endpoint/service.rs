//! McpHttp: the endpoint over HTTP, as a service that a router mounts.
//!
//! A request that is answered without anything said in between gets one JSON document; as soon as something is said, or
//! when it takes long, the answer becomes a stream of events.

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body::Body;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use toolyard::JsonText;

use super::body::{Answering, McpBody, Reply};
use super::error::RpcError;
use super::headers::{self, EVENT_STREAM, JSON, SESSION};
use super::line::{Messages, Outlet};
use super::message::{self, Message, response};
use super::meta::Meta;
use super::peer::Peer;
use super::session::Session;
use super::{McpPrincipal, Shared, Tasks};

/// How long an answer may take before its stream is opened, so that nobody in between takes the connection for dead.
const PATIENCE: Duration = Duration::from_secs(5);

/// The endpoint over HTTP. Cloning shares it.
#[derive(Clone, Debug)]
pub struct McpHttp {
    pub(super) shared: Arc<Shared>,
    pub(super) _tasks: Tasks,
}

type Answer = Response<McpBody>;

// === impl McpHttp ===

impl<B> tower_service::Service<Request<B>> for McpHttp
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Response = Answer;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Answer, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.serve(request).await) })
    }
}

impl McpHttp {
    async fn serve<B>(&self, request: Request<B>) -> Answer
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let (parts, body) = request.into_parts();
        if let Some(reason) = self.shared.allowed.refuses(&parts.uri, &parts.headers) {
            return plain(StatusCode::FORBIDDEN, reason);
        }
        let tenant = parts.extensions.get::<McpPrincipal>().map_or_else(Arc::default, |who| Arc::clone(&who.tenant));
        match parts.method {
            Method::POST => self.post(parts, body, tenant).await,
            Method::GET => self.get(&parts.headers, &tenant),
            Method::DELETE => self.delete(&parts.headers, &tenant),
            _ => not_allowed("GET, POST, DELETE"),
        }
    }

    async fn post<B>(&self, parts: Parts, body: B, tenant: Arc<str>) -> Answer
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let headers = &parts.headers;
        if !headers::accepts(headers, JSON) || !headers::accepts(headers, EVENT_STREAM) {
            return plain(StatusCode::NOT_ACCEPTABLE, "Accept must name application/json and text/event-stream");
        }
        if !headers::is_json(headers) {
            return plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Content-Type must be application/json");
        }
        let bytes = match read(body, self.shared.config.max_body_bytes).await {
            Ok(bytes) => bytes,
            Err(answer) => return answer,
        };
        let message = match Message::read(&bytes) {
            Ok(message) => message,
            Err((id, error)) => return refusal(&headers::id_or_null(id), error),
        };
        let meta = match &message {
            Message::Request(request) => request.meta(),
            Message::Notification(_) | Message::Response(_) => Meta::default(),
        };
        if headers::is_modern(&message, &meta, headers) {
            return self.modern(message, &meta, headers, &tenant).await;
        }
        self.legacy(message, headers, &tenant).await
    }

    /// Revision 2026-07-28: each request stands for itself, and ends with its connection.
    async fn modern(&self, message: Message, meta: &Meta, headers: &HeaderMap, tenant: &Arc<str>) -> Answer {
        let request = match message {
            Message::Request(request) => request,
            Message::Notification(_) => return empty(StatusCode::ACCEPTED),
            Message::Response(_) => {
                let error = RpcError::new(RpcError::INVALID_REQUEST, "nobody was asked for anything");
                return refusal(&JsonText::null(), error.malformed());
            }
        };
        let mirrors = |name: &str| self.shared.mirrors_of(name);
        if let Err(error) = headers::check_modern(&request, meta, headers, mirrors) {
            return refusal(&request.id, error);
        }
        let peer = Peer::modern(tenant, meta.capabilities.unwrap_or_default(), meta.log_level);
        let peer = peer.handing_on(headers, &self.shared.config.forward_headers);
        self.answer(request, peer, false).await
    }

    /// Older revisions: `initialize` opens a session, and everything else belongs to one.
    async fn legacy(&self, message: Message, headers: &HeaderMap, tenant: &Arc<str>) -> Answer {
        if let Message::Request(request) = &message
            && &*request.method == "initialize"
        {
            return self.open(request, tenant);
        }
        let session = match self.session(headers, tenant) {
            Ok(session) => session,
            Err(answer) => return *answer,
        };
        session.seen();
        match message {
            Message::Request(request) => {
                let peer = Peer::legacy(session).handing_on(headers, &self.shared.config.forward_headers);
                self.answer(request, peer, true).await
            }
            Message::Notification(notification) => {
                self.shared.notified(&session, &notification);
                empty(StatusCode::ACCEPTED)
            }
            Message::Response(response) => {
                session.answered(response);
                empty(StatusCode::ACCEPTED)
            }
        }
    }

    fn open(&self, request: &message::Request, tenant: &Arc<str>) -> Answer {
        match self.shared.initialize(request, tenant) {
            Ok((session, result)) => {
                let mut answer = json(StatusCode::OK, response(&request.id, &Ok(result)));
                if let Ok(id) = HeaderValue::from_str(&session.key.session) {
                    answer.headers_mut().insert(SESSION, id);
                }
                answer
            }
            Err(error) if error.code == RpcError::UNAVAILABLE => {
                json(StatusCode::SERVICE_UNAVAILABLE, response(&request.id, &Err(error)))
            }
            Err(error) => refusal(&request.id, error.malformed()),
        }
    }

    async fn answer(&self, request: message::Request, peer: Peer, goes_on: bool) -> Answer {
        let Ok(permit) = Arc::clone(&self.shared.room).try_acquire_owned() else {
            let error = RpcError::new(RpcError::UNAVAILABLE, "too many requests are being served; try again later");
            return json(StatusCode::SERVICE_UNAVAILABLE, response(&request.id, &Err(error)));
        };
        let (outlet, mut messages) = Outlet::new();
        let shared = Arc::clone(&self.shared);
        let work = Box::pin(async move {
            let _permit = permit;
            shared.answer(request, peer, outlet).await
        });
        let mut answering = Answering::new(work, goes_on);
        let first = tokio::select! {
            biased;
            reply = &mut answering => return replied(reply, messages),
            first = messages.recv() => first,
            () = tokio::time::sleep(PATIENCE) => None,
        };
        events(McpBody::of_request(first, messages, answering))
    }

    fn get(&self, headers: &HeaderMap, tenant: &Arc<str>) -> Answer {
        if headers::says_modern(headers) {
            return not_allowed("POST");
        }
        if !headers::accepts(headers, EVENT_STREAM) {
            return plain(StatusCode::NOT_ACCEPTABLE, "Accept must name text/event-stream");
        }
        match self.session(headers, tenant) {
            Ok(session) => {
                session.seen();
                let (stream, messages) = Outlet::new();
                events(McpBody::of_session(session, stream, messages))
            }
            Err(answer) => *answer,
        }
    }

    fn delete(&self, headers: &HeaderMap, tenant: &Arc<str>) -> Answer {
        if headers::says_modern(headers) {
            return not_allowed("POST");
        }
        match self.session(headers, tenant) {
            Ok(session) => {
                self.shared.end(&session);
                empty(StatusCode::NO_CONTENT)
            }
            Err(answer) => *answer,
        }
    }

    fn session(&self, headers: &HeaderMap, tenant: &str) -> Result<Arc<Session>, Box<Answer>> {
        let Some(id) = headers::text(headers, SESSION) else {
            let missing = "the header Mcp-Session-Id is missing: `initialize` gives it";
            return Err(Box::new(plain(StatusCode::BAD_REQUEST, missing)));
        };
        if !headers::legacy_version_is_known(headers) {
            let unknown = "MCP-Protocol-Version names a revision that is not spoken here";
            return Err(Box::new(plain(StatusCode::BAD_REQUEST, unknown)));
        }
        let session = self.shared.sessions.find(id, tenant);
        let gone = "there is no such session; open one with `initialize`";
        session.ok_or_else(|| Box::new(plain(StatusCode::NOT_FOUND, gone)))
    }
}

async fn read<B>(body: B, max_bytes: usize) -> Result<Bytes, Answer>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    match Limited::new(body, max_bytes).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(plain(StatusCode::PAYLOAD_TOO_LARGE, "the message is larger than this server takes"))
        }
        Err(_) => Err(plain(StatusCode::BAD_REQUEST, "the message did not arrive whole")),
    }
}

/// An answer before which nothing was said, unless something was said in the very same moment.
fn replied(reply: Option<Reply>, mut messages: Messages) -> Answer {
    let said = messages.try_recv().ok();
    match (reply, said) {
        (Some(reply), None) => json(StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK), reply.text),
        (reply, said) => {
            let answered = Answering::new(Box::pin(std::future::ready(reply)), false);
            events(McpBody::of_request(said, messages, answered))
        }
    }
}

fn refusal(id: &JsonText, error: RpcError) -> Answer {
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::BAD_REQUEST);
    json(status, response(id, &Err(error)))
}

fn json(status: StatusCode, text: String) -> Answer {
    with_type(status, JSON, McpBody::whole(text))
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    with_type(status, "text/plain; charset=utf-8", McpBody::whole(Bytes::from_static(text.as_bytes())))
}

fn events(body: McpBody) -> Answer {
    let mut answer = with_type(StatusCode::OK, EVENT_STREAM, body);
    answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    answer.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    answer
}

fn empty(status: StatusCode) -> Answer {
    let mut answer = Response::new(McpBody::empty());
    *answer.status_mut() = status;
    answer
}

fn not_allowed(methods: &'static str) -> Answer {
    let mut answer = plain(StatusCode::METHOD_NOT_ALLOWED, "this address does not take this method");
    answer.headers_mut().insert(header::ALLOW, HeaderValue::from_static(methods));
    answer
}

fn with_type(status: StatusCode, kind: &'static str, body: McpBody) -> Answer {
    let mut answer = empty(status);
    *answer.body_mut() = body;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}
