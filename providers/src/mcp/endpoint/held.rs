//! HeldCalls: requests that wait until their client comes back with what they asked for.
//!
//! The client only has a sealed state in its hands: it names the request, the round and the principal, and cannot be
//! made up.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use indexmap::IndexMap;
use sha2::Sha256;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;
use toolyard::JsonText;
use uuid::Uuid;

use super::error::RpcError;
use super::host::Ask;
use super::line::Line;

/// Requests that may wait at a time.
const MAX_HELD: usize = 1_024;
/// How long a request waits for its client.
const PATIENCE: Duration = Duration::from_secs(300);
const ID: usize = 16;
const ROUND: usize = 4;
const SEAL: usize = 32;

/// What comes of a request.
pub(super) type Outcome = Result<JsonText, RpcError>;

/// The requests that wait.
pub(super) struct HeldCalls {
    held: Mutex<HashMap<Uuid, Held>>,
    seal: Hmac<Sha256>,
}

/// A request that waits. Dropping it cancels it.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) id: Uuid,
    pub(super) round: u32,
    pub(super) run: AbortOnDropHandle<Outcome>,
    pub(super) asks: mpsc::Receiver<Ask>,
    /// What the client was asked for and has not answered, by the key that it knows.
    pub(super) open: IndexMap<String, Ask>,
    pub(super) line: Line,
    pub(super) until: Instant,
}

// === impl HeldCalls ===

impl HeldCalls {
    pub(super) fn new() -> Self {
        let key = [Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes()].concat();
        // HMAC takes keys of any length.
        let seal =
            Hmac::new_from_slice(&key).unwrap_or_else(|_| Hmac::new(&hmac::digest::Key::<Hmac<Sha256>>::default()));
        Self { held: Mutex::default(), seal }
    }

    /// Keeps a request until its client comes back for it, and gives the state that the client has to show then.
    ///
    /// # Errors
    /// Too many wait already.
    pub(super) fn keep(&self, mut held: Held, subject: &str) -> Result<JsonText, RpcError> {
        held.round += 1;
        held.until = Instant::now() + PATIENCE;
        let mut state = held.id.as_bytes().to_vec();
        state.extend(held.round.to_be_bytes());
        let seal = self.mac(&state, subject).finalize().into_bytes();
        state.extend(seal);
        let mut all = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_HELD {
            return Err(RpcError::new(RpcError::UNAVAILABLE, "too many requests wait for their clients"));
        }
        all.insert(held.id, held);
        Ok(JsonText::string(&BASE64_URL_SAFE_NO_PAD.encode(state)))
    }

    /// The request that a state stands for.
    ///
    /// # Errors
    /// The state was not given out for this, was used already, or is too old.
    pub(super) fn take(&self, state: &str, subject: &str) -> Result<Held, RpcError> {
        let forged = || RpcError::invalid_params("`requestState` is not what was given out for this request");
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(state).map_err(|_| forged())?;
        let (signed, seal) = bytes.split_at_checked(ID + ROUND).ok_or_else(forged)?;
        if seal.len() != SEAL || self.mac(signed, subject).verify_slice(seal).is_err() {
            return Err(forged());
        }
        let (id, round) = signed.split_at_checked(ID).ok_or_else(forged)?;
        let id = Uuid::from_slice(id).map_err(|_| forged())?;
        let round = u32::from_be_bytes(round.try_into().map_err(|_| forged())?);
        let over = || RpcError::invalid_params("the request that `requestState` stands for is over; ask anew");
        let mut all = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if all.get(&id).is_none_or(|held| held.round != round) {
            return Err(over());
        }
        all.remove(&id).filter(|held| held.until > Instant::now()).ok_or_else(over)
    }

    /// Gives up those whose clients did not come back.
    pub(super) fn sweep(&self) {
        let now = Instant::now();
        let mut all = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let over: Vec<Held> = all.extract_if(|_, held| held.until <= now).map(|(_, held)| held).collect();
        drop(all);
        drop(over);
    }

    pub(super) fn clear(&self) {
        let all = std::mem::take(&mut *self.held.lock().unwrap_or_else(PoisonError::into_inner));
        drop(all);
    }

    fn mac(&self, state: &[u8], subject: &str) -> Hmac<Sha256> {
        let mut mac = self.seal.clone();
        mac.update(state);
        mac.update(subject.as_bytes());
        mac
    }
}

impl fmt::Debug for HeldCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HeldCalls")
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::Outlet;
    use super::*;

    fn held() -> Held {
        Held {
            id: Uuid::new_v4(),
            round: 0,
            run: AbortOnDropHandle::new(tokio::spawn(std::future::pending())),
            asks: mpsc::channel(1).1,
            open: IndexMap::new(),
            line: Line::new(Outlet::new().0, None),
            until: Instant::now(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_state_opens_only_what_it_was_given_for_and_once() {
        let calls = HeldCalls::new();
        let state = calls.keep(held(), "tools/call a").unwrap().text().unwrap();
        for (state, subject) in [
            (format!("{state}-TAMPERED"), "tools/call a"),
            (state.clone(), "tools/call b"),
            (state.replace(&state[..1], if state.starts_with('A') { "B" } else { "A" }), "tools/call a"),
            (String::new(), "tools/call a"),
        ] {
            assert_eq!(calls.take(&state, subject).unwrap_err().code, RpcError::INVALID_PARAMS);
        }
        let again = calls.take(&state, "tools/call a").unwrap();
        assert!(calls.take(&state, "tools/call a").is_err(), "used");
        let newer = calls.keep(again, "tools/call a").unwrap().text().unwrap();
        assert_ne!(newer, state);
        assert!(calls.take(&state, "tools/call a").is_err(), "the state of an earlier round");
        assert!(calls.take(&newer, "tools/call a").is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_whose_client_stays_away_is_given_up() {
        let calls = HeldCalls::new();
        let state = calls.keep(held(), "s").unwrap().text().unwrap();
        calls.sweep();
        assert_eq!(calls.held.lock().unwrap().len(), 1);
        tokio::time::advance(PATIENCE).await;
        assert!(calls.take(&state, "s").is_err());
        calls.keep(held(), "s").unwrap();
        tokio::time::advance(PATIENCE).await;
        calls.sweep();
        assert!(calls.held.lock().unwrap().is_empty());
    }
}
