//! Sessions: a connection of its own for each tenant, so that none sees what another has left on the server.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::{BoxFuture, join_all};
use tokio::sync::OnceCell;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;
use toolyard::{ErrorCode, ToolFailure};

/// Connections that are looked at for having been idle, this often within the time that they may be.
const LOOKS: u32 = 4;
/// The shortest time between two looks.
const MIN_LOOK: Duration = Duration::from_millis(20);

/// What a tenant may have of its own.
pub(super) trait Session: Send + Sync + 'static {
    /// Whether it is of no use any more.
    fn is_over(&self) -> bool;

    /// Gives everything back. In bounded time.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// The sessions of one provider's tenants.
pub(super) struct Sessions<S: Session> {
    inner: Arc<Inner<S>>,
    /// Closes those that are idle.
    _sweeper: AbortOnDropHandle<()>,
}

/// A session that is in use: it is not idle as long as this lives.
pub(super) struct Lease<S: Session> {
    session: Arc<S>,
    seat: Arc<Seat<S>>,
}

struct Inner<S: Session> {
    max: usize,
    idle: Duration,
    seats: Mutex<Seats<S>>,
}

struct Seats<S: Session> {
    is_closed: bool,
    by_tenant: HashMap<Arc<str>, Arc<Seat<S>>>,
}

/// The place of one tenant. Whoever comes first opens the session; the others wait for it.
struct Seat<S: Session> {
    session: OnceCell<Arc<S>>,
    usage: Mutex<Usage>,
}

struct Usage {
    leases: usize,
    since: Instant,
}

/// Counts a user of a seat for as long as it lives.
struct Sitting<S: Session>(Arc<Seat<S>>);

// === impl Sessions ===

impl<S: Session> Sessions<S> {
    /// At most `max` sessions, each closed once nobody has used it for `idle`. Must be called in a tokio runtime.
    pub(super) fn new(max: NonZeroUsize, idle: Duration) -> Self {
        let seats = Mutex::new(Seats { is_closed: false, by_tenant: HashMap::new() });
        let inner = Arc::new(Inner { max: max.get(), idle, seats });
        let sweeper = tokio::spawn(sweep(Arc::clone(&inner)));
        Self { inner, _sweeper: AbortOnDropHandle::new(sweeper) }
    }

    /// The tenant's session; opened by `open` where there is none, once for all that ask meanwhile. Where the first to
    /// ask gives up, the next one opens it.
    ///
    /// # Errors
    /// It cannot be opened, too many are open, or the provider is closed.
    pub(super) async fn get<F>(&self, tenant: &str, open: impl FnOnce() -> F) -> Result<Lease<S>, ToolFailure>
    where
        F: Future<Output = Result<Arc<S>, ToolFailure>>,
    {
        let (sitting, replaced) = self.inner.sit(tenant)?;
        if let Some(replaced) = replaced {
            tokio::spawn(async move { replaced.close().await });
        }
        let opened = sitting.0.session.get_or_try_init(open).await;
        let session = match opened {
            Ok(session) => Arc::clone(session),
            Err(failure) => {
                self.inner.leave_empty(tenant, &sitting.0);
                return Err(failure);
            }
        };
        // Whoever closed everything meanwhile could not see it.
        if self.inner.seats().is_closed {
            session.close().await;
            return Err(closed());
        }
        Ok(Lease { session, seat: sitting.keep() })
    }

    /// The sessions that are open, by tenant.
    #[cfg(test)]
    pub(super) fn all(&self) -> Vec<(Arc<str>, Arc<S>)> {
        let seats = self.inner.seats();
        let open = |(tenant, seat): (&Arc<str>, &Arc<Seat<S>>)| Some((Arc::clone(tenant), seat.session.get()?.clone()));
        seats.by_tenant.iter().filter_map(open).collect()
    }

    /// Closes every session, and lets none be opened any more.
    pub(super) async fn close(&self) {
        let seats = {
            let mut seats = self.inner.seats();
            seats.is_closed = true;
            std::mem::take(&mut seats.by_tenant)
        };
        let sessions: Vec<Arc<S>> = seats.values().filter_map(|seat| seat.session.get().cloned()).collect();
        join_all(sessions.iter().map(|session| session.close())).await;
    }
}

impl<S: Session> fmt::Debug for Sessions<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").field("open", &self.inner.seats().by_tenant.len()).finish()
    }
}

async fn sweep<S: Session>(inner: Arc<Inner<S>>) {
    let mut looks = tokio::time::interval((inner.idle / LOOKS).max(MIN_LOOK));
    loop {
        looks.tick().await;
        let idle = inner.take_idle();
        let sessions: Vec<Arc<S>> = idle.iter().filter_map(|seat| seat.session.get().cloned()).collect();
        join_all(sessions.iter().map(|session| session.close())).await;
    }
}

fn closed() -> ToolFailure {
    ToolFailure::not_sent(ErrorCode::ProviderDown, "the server was closed")
}

// === impl Inner ===

impl<S: Session> Inner<S> {
    /// Takes the tenant's place; gives the session that was there before, if that is over.
    fn sit(&self, tenant: &str) -> Result<(Sitting<S>, Option<Arc<S>>), ToolFailure> {
        let mut seats = self.seats();
        if seats.is_closed {
            return Err(closed());
        }
        let mut replaced = None;
        if let Some(seat) = seats.by_tenant.get(tenant) {
            if !seat.is_over() {
                return Ok((Sitting::new(Arc::clone(seat)), None));
            }
            replaced = seats.by_tenant.remove(tenant).and_then(|seat| seat.session.get().cloned());
        }
        if seats.by_tenant.len() >= self.max {
            let message = format!("{} tenants have a session with this server, as many as may be; try later", self.max);
            return Err(ToolFailure::not_sent(ErrorCode::LimitInFlight, message));
        }
        let usage = Mutex::new(Usage { leases: 0, since: Instant::now() });
        let seat = Arc::new(Seat { session: OnceCell::new(), usage });
        seats.by_tenant.insert(tenant.into(), Arc::clone(&seat));
        Ok((Sitting::new(seat), replaced))
    }

    /// Gives a place back whose session could not be opened, unless somebody else goes on trying.
    fn leave_empty(&self, tenant: &str, seat: &Arc<Seat<S>>) {
        let mut seats = self.seats();
        let is_same = seats.by_tenant.get(tenant).is_some_and(|current| Arc::ptr_eq(current, seat));
        if is_same && seat.session.get().is_none() && seat.usage().leases <= 1 {
            seats.by_tenant.remove(tenant);
        }
    }

    fn take_idle(&self) -> Vec<Arc<Seat<S>>> {
        let mut seats = self.seats();
        let is_idle = |seat: &Seat<S>| {
            let usage = seat.usage();
            usage.leases == 0 && (usage.since.elapsed() >= self.idle || seat.is_over())
        };
        let idle: Vec<Arc<str>> =
            seats.by_tenant.iter().filter(|(_, seat)| is_idle(seat)).map(|(tenant, _)| Arc::clone(tenant)).collect();
        idle.iter().filter_map(|tenant| seats.by_tenant.remove(tenant)).collect()
    }

    fn seats(&self) -> MutexGuard<'_, Seats<S>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Seat ===

impl<S: Session> Seat<S> {
    fn is_over(&self) -> bool {
        self.session.get().is_some_and(|session| session.is_over())
    }

    fn usage(&self) -> MutexGuard<'_, Usage> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) {
        self.usage().leases += 1;
    }

    fn give_back(&self) {
        let mut usage = self.usage();
        usage.leases = usage.leases.saturating_sub(1);
        usage.since = Instant::now();
    }
}

// === impl Sitting ===

impl<S: Session> Sitting<S> {
    fn new(seat: Arc<Seat<S>>) -> Self {
        seat.take();
        Self(seat)
    }

    /// Goes on counting, for a lease.
    fn keep(self) -> Arc<Seat<S>> {
        self.0.take();
        Arc::clone(&self.0)
    }
}

impl<S: Session> Drop for Sitting<S> {
    fn drop(&mut self) {
        self.0.give_back();
    }
}

// === impl Lease ===

impl<S: Session> Lease<S> {
    pub(super) fn session(&self) -> &Arc<S> {
        &self.session
    }
}

impl<S: Session> Drop for Lease<S> {
    fn drop(&mut self) {
        self.seat.give_back();
    }
}

#[cfg(test)]
mod tests;
