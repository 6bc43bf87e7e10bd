//! Each step that an approval can take, and whether it may.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::record::unix_millis;
use super::slot::Slot;
use super::table::{Approvals, Table};
use super::{
    ApprovalDecision, ApprovalError, ApprovalId, ApprovalOutcome, ApprovalRecord, ApprovalRequest, ApprovalState,
    Waiting,
};
use crate::call::{Locale, SessionKey};
use crate::metrics;
use crate::policy::{ApprovalMode, ApprovalPolicy};
use crate::result::{CallError, ErrorCode, Executed};
use crate::text;

/// Time that no clock overflows on: about a century.
const FAR: Duration = Duration::from_secs(3_000_000_000);

/// So many are open that nobody is asked any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

// === impl Approvals ===

impl Approvals {
    /// Asks for a decision.
    pub(crate) fn ask(
        &self,
        request: Arc<ApprovalRequest>,
        expires: Instant,
        waiting: Option<Arc<Waiting>>,
        policy: &ApprovalPolicy,
    ) -> Result<(), TooMany> {
        let slot = Slot { waiting, ..Slot::new(request, Instant::now(), expires) };
        let mut table = self.table();
        if table.open >= policy.max_pending || table.open_bytes + slot.bytes > policy.max_pending_bytes {
            return Err(TooMany);
        }
        let of_session = slot.request.session.as_ref().and_then(|key| table.open_by_session.get(key));
        if of_session.is_some_and(|open| *open >= policy.max_per_session) {
            return Err(TooMany);
        }
        let id = slot.request.id.clone();
        table.insert(slot);
        self.tell(&mut table, &id);
        self.timing.notify_one();
        Ok(())
    }

    /// Takes a record of an earlier life. One that is known already stays as it is.
    pub(super) fn restore(&self, record: ApprovalRecord, now: Instant) {
        let mut table = self.table();
        if table.by_id.contains_key(&record.request.id) {
            return;
        }
        let unix = unix_millis();
        let left = Duration::from_millis(record.request.expires_at_ms.saturating_sub(unix));
        let (id, state, over_at) = (record.request.id.clone(), record.state, record.over_at_ms);
        let request = Arc::clone(&record.request);
        table.insert(Slot::restored(record, now, after(now, left)));
        let locale = request.context.locale;
        if state.is_over() {
            let since = Duration::from_millis(unix.saturating_sub(over_at.unwrap_or(0)));
            let until = after(now, self.ttl.saturating_sub(since));
            table.close(&id, until);
            return;
        }
        if matches!(state, ApprovalState::Started | ApprovalState::Approved) {
            self.end(&mut table, &id, ApprovalState::Settled, text::approval_unknown(locale), Executed::Unknown);
        } else if request.mode == ApprovalMode::Wait {
            self.end(&mut table, &id, ApprovalState::Withdrawn, text::approval_withdrawn(locale), Executed::No);
        }
    }

    /// Whether one can be decided.
    pub(super) fn check_pending(&self, id: &str) -> Result<Arc<ApprovalRequest>, ApprovalError> {
        self.pending(&mut self.table(), id).map(|slot| Arc::clone(&slot.request))
    }

    /// Marks a pending one as approved. Of two that try at once one succeeds.
    pub(super) fn claim(&self, id: &str, decision: ApprovalDecision) -> Result<ApprovalId, ApprovalError> {
        let mut table = self.table();
        let slot = self.pending(&mut table, id)?;
        slot.state = ApprovalState::Approved;
        slot.decision = Some(decision);
        let id = slot.request.id.clone();
        self.tell(&mut table, &id);
        Ok(id)
    }

    /// The start of an approved one could not be kept: it is as it was, unless its batch has given it up meanwhile.
    pub(super) fn unclaim(&self, id: &ApprovalId) {
        let mut table = self.table();
        let Some(slot) = table.by_id.get_mut(id).filter(|slot| slot.state == ApprovalState::Approved) else { return };
        slot.state = ApprovalState::Pending;
        slot.decision = None;
        let is_given_up = slot.waiting.as_ref().is_some_and(|waiting| waiting.is_given_up());
        self.tell(&mut table, id);
        self.timing.notify_one();
        drop(table);
        if is_given_up {
            self.withdraw(id);
        }
    }

    /// From now on the call of an approved one runs. Gives what it runs with.
    pub(super) fn start(&self, id: &ApprovalId) -> Option<(Arc<ApprovalRequest>, Option<Arc<Waiting>>)> {
        let mut table = self.table();
        let slot = table.by_id.get_mut(id).filter(|slot| slot.state == ApprovalState::Approved)?;
        slot.state = ApprovalState::Started;
        let run = (Arc::clone(&slot.request), slot.waiting.clone());
        metrics::record_decision(ApprovalState::Approved);
        self.tell(&mut table, id);
        Some(run)
    }

    /// Notes what came of a started one, to be kept before it is told.
    pub(super) fn note(&self, id: &ApprovalId, outcome: ApprovalOutcome) {
        if let Some(slot) = self.table().by_id.get_mut(id) {
            slot.outcome = Some(Arc::new(outcome));
        }
    }

    /// Tells what came of a started one.
    pub(super) fn settle(&self, id: &ApprovalId) {
        self.over(&mut self.table(), id, ApprovalState::Settled);
    }

    /// Declines a pending one.
    pub(super) fn deny(&self, id: &str, decision: ApprovalDecision) -> Result<ApprovalId, ApprovalError> {
        let mut table = self.table();
        let slot = self.pending(&mut table, id)?;
        let error = text::approval_denied(locale(slot), &slot.request.title, decision.reason.as_deref());
        slot.decision = Some(decision);
        let id = slot.request.id.clone();
        self.end(&mut table, &id, ApprovalState::Denied, error, Executed::No);
        Ok(id)
    }

    /// Withdraws one that is pending. Says whether it was.
    pub(crate) fn withdraw(&self, id: &ApprovalId) -> bool {
        let mut table = self.table();
        let Some(slot) = table.by_id.get(id).filter(|slot| slot.state == ApprovalState::Pending) else { return false };
        let error = text::approval_withdrawn(locale(slot));
        self.end(&mut table, id, ApprovalState::Withdrawn, error, Executed::No);
        true
    }

    /// Withdraws those that are pending and concerned, each for the reason given.
    pub(super) fn withdraw_where(&self, why: impl Fn(&ApprovalRequest) -> Option<CallError>) {
        let mut table = self.table();
        let pending = table.by_id.values().filter(|slot| slot.state == ApprovalState::Pending);
        let gone: Vec<_> = pending.filter_map(|slot| Some((slot.request.id.clone(), why(&slot.request)?))).collect();
        for (id, error) in gone {
            self.end(&mut table, &id, ApprovalState::Withdrawn, error, Executed::No);
        }
    }

    /// Withdraws those whose calls wait in their batches: once the engine closes nobody can agree to them.
    pub(crate) fn withdraw_waiting(&self) {
        self.withdraw_where(|request| {
            let waits = request.mode == ApprovalMode::Wait;
            waits.then(|| text::cancelled(request.context.locale, ErrorCode::CancelledShutdown))
        });
    }

    /// Withdraws those of a session that has ended.
    pub(crate) fn withdraw_session(&self, key: &SessionKey) {
        self.withdraw_where(|request| {
            (request.session.as_ref() == Some(key)).then(|| text::approval_withdrawn(request.context.locale))
        });
    }

    /// Ends those whose time is over, forgets those that were kept long enough, and says when to look again.
    pub(super) fn look(&self, now: Instant) -> Option<Instant> {
        let mut table = self.table();
        let due = |slot: &&Slot| slot.state == ApprovalState::Pending && slot.expires <= now;
        let expired: Vec<_> = table.by_id.values().filter(due).map(|slot| slot.request.id.clone()).collect();
        for id in expired {
            self.expire(&mut table, &id);
        }
        while table.over.front().is_some_and(|(until, _)| *until <= now) {
            self.forget_oldest(&mut table);
        }
        let pending = table.by_id.values().filter(|slot| slot.state == ApprovalState::Pending);
        let next = pending.map(|slot| slot.expires).min();
        next.into_iter().chain(table.over.front().map(|(until, _)| *until)).min()
    }

    /// The slot, if it can be decided. One whose time is over expires here, whether or not the clock has looked.
    fn pending<'t>(&self, table: &'t mut Table, id: &str) -> Result<&'t mut Slot, ApprovalError> {
        let unknown = || ApprovalError::Unknown(id.to_owned());
        let slot = table.by_id.get(id).ok_or_else(unknown)?;
        match slot.state {
            ApprovalState::Pending if slot.expires <= Instant::now() => {
                let id = slot.request.id.clone();
                self.expire(table, &id);
                Err(ApprovalError::Expired)
            }
            ApprovalState::Pending => table.by_id.get_mut(id).ok_or_else(unknown),
            ApprovalState::Expired => Err(ApprovalError::Expired),
            state => Err(ApprovalError::Decided(state)),
        }
    }

    fn expire(&self, table: &mut Table, id: &ApprovalId) {
        if let Some(slot) = table.by_id.get(id) {
            let error = text::approval_expired(locale(slot), &slot.request.title);
            self.end(table, id, ApprovalState::Expired, error, Executed::No);
        }
    }

    /// Ends one without its call's own result.
    fn end(&self, table: &mut Table, id: &ApprovalId, state: ApprovalState, error: CallError, executed: Executed) {
        if let Some(slot) = table.by_id.get_mut(id) {
            slot.outcome = Some(Arc::new(ApprovalOutcome::new(slot.request.without_run(error, executed))));
            self.over(table, id, state);
        }
    }

    fn over(&self, table: &mut Table, id: &ApprovalId, state: ApprovalState) {
        let Some(slot) = table.by_id.get_mut(id).filter(|slot| !slot.state.is_over()) else { return };
        slot.state = state;
        slot.over_at_ms = Some(unix_millis());
        if let (Some(waiting), Some(outcome)) = (slot.waiting.take(), &slot.outcome) {
            waiting.end(Arc::clone(outcome));
        }
        table.close(id, after(Instant::now(), self.ttl));
        if state != ApprovalState::Settled {
            metrics::record_decision(state);
        }
        self.tell(table, id);
        self.timing.notify_one();
        while table.over.len() > self.max_kept || (table.over_bytes > self.max_kept_bytes && table.over.len() > 1) {
            self.forget_oldest(table);
        }
    }

    fn forget_oldest(&self, table: &mut Table) {
        if let Some((_, id)) = table.over.pop_front()
            && let Some(slot) = table.by_id.remove(&id)
        {
            table.over_bytes -= slot.bytes;
            self.changed(table, &id);
        }
    }
}

/// No time that somebody has configured or kept goes beyond what the clock can tell.
fn after(now: Instant, time: Duration) -> Instant {
    now.checked_add(time.min(FAR)).unwrap_or(now)
}

fn locale(slot: &Slot) -> Locale {
    slot.request.context.locale
}
