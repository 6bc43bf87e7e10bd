use toolyard::{ErrorCode, Sent, ToolFailure};

use super::*;

const MINUTE: Duration = Duration::from_secs(60);

fn channel(grace_ms: u64) -> Arc<Channel> {
    Arc::new(Channel::new(Duration::from_millis(grace_ms)))
}

/// Asks in a task of its own, for a minute.
fn ask(channel: &Arc<Channel>, capability: &str) -> tokio::task::JoinHandle<Result<JsonText, ToolFailure>> {
    let channel = Arc::clone(channel);
    let (payload, provider) = (JsonText::parse("{}").unwrap(), "p".into());
    let deadline = Instant::now() + MINUTE;
    let request = HostRequest { capability: capability.to_owned(), payload, provider, caller: None, deadline };
    tokio::spawn(async move { channel.ask(request).await.map_err(Trouble::into_failure) })
}

/// Id and capability of a request.
fn opened(delivery: Option<Delivery>) -> (String, String) {
    let Some(Delivery::Request(document)) = delivery else { panic!("no request: {delivery:?}") };
    let document: serde_json::Value = serde_json::from_str(document.get()).unwrap();
    (document["id"].as_str().unwrap().to_owned(), document["capability"].as_str().unwrap().to_owned())
}

fn cancelled(delivery: Option<Delivery>) -> String {
    let Some(Delivery::Cancelled(id)) = delivery else { panic!("not cancelled: {delivery:?}") };
    id.to_string()
}

fn value(text: &str) -> Answer {
    serde_json::from_str(&format!("{{\"value\": {text}}}")).unwrap()
}

fn is_empty(channel: &Channel) -> bool {
    let board = channel.board();
    !board.has_waiting() && board.is_idle()
}

#[tokio::test(start_paused = true)]
async fn a_request_is_refused_at_once_when_nobody_is_connected() {
    let channel = channel(0);
    let started = Instant::now();
    let failure = ask(&channel, "send.text").await.unwrap().unwrap_err();
    assert_eq!((failure.code, failure.sent), (ErrorCode::ToolUnavailable, Sent::No));
    assert_eq!(started.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_request_waits_for_somebody_as_long_as_the_grace_and_no_longer() {
    let channel = channel(500);
    let started = Instant::now();
    let failure = ask(&channel, "send.text").await.unwrap().unwrap_err();
    assert_eq!(failure.code, ErrorCode::ToolUnavailable);
    assert!((500..=502).contains(&started.elapsed().as_millis()), "{:?}", started.elapsed());
    let waits = ask(&channel, "send.text");
    tokio::time::sleep(Duration::from_millis(400)).await;
    let mut consumer = channel.connect().unwrap();
    let (id, _) = opened(consumer.next().await);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(channel.settle(&id, value("12345678901234567890")), Settled::Accepted);
    assert_eq!(waits.await.unwrap().unwrap().as_str(), "12345678901234567890");
    assert!(is_empty(&channel));
}

#[tokio::test(start_paused = true)]
async fn each_request_goes_to_one_consumer_and_idle_ones_take_turns() {
    let channel = channel(0);
    let taken: Arc<Mutex<Vec<(usize, String)>>> = Arc::default();
    for consumer in 0..3 {
        let (mut connected, taken, channel) = (channel.connect().unwrap(), Arc::clone(&taken), Arc::clone(&channel));
        tokio::spawn(async move {
            loop {
                let (id, _) = opened(connected.next().await);
                taken.lock().unwrap().push((consumer, id.clone()));
                assert_eq!(channel.settle(&id, value("true")), Settled::Accepted);
            }
        });
    }
    for _ in 0..30 {
        ask(&channel, "send.text").await.unwrap().unwrap();
    }
    let taken = taken.lock().unwrap();
    assert_eq!(taken.len(), 30);
    for consumer in 0..3 {
        assert_eq!(taken.iter().filter(|(by, _)| *by == consumer).count(), 10, "{taken:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_consumer_held_fails_when_it_leaves_and_what_waited_goes_to_the_next() {
    let channel = channel(1000);
    let mut first = channel.connect().unwrap();
    let held = ask(&channel, "held.x");
    let (held_id, _) = opened(first.next().await);
    let waits = ask(&channel, "waits.x");
    tokio::task::yield_now().await;
    drop(first);
    let failure = held.await.unwrap().unwrap_err();
    assert_eq!((failure.code, failure.sent), (ErrorCode::ProviderCrashed, Sent::Maybe));
    let mut second = channel.connect().unwrap();
    let (id, capability) = opened(second.next().await);
    assert_eq!(capability, "waits.x");
    assert_eq!(channel.settle(&held_id, value("1")), Settled::Late);
    assert_eq!(channel.settle(&id, value("2")), Settled::Accepted);
    assert_eq!(waits.await.unwrap().unwrap().as_str(), "2");
}

#[tokio::test(start_paused = true)]
async fn what_waits_is_refused_once_the_last_consumer_has_left_for_the_grace() {
    let channel = channel(300);
    let consumer = channel.connect().unwrap();
    let waits = ask(&channel, "send.text");
    tokio::time::sleep(Duration::from_secs(2)).await;
    drop(consumer);
    let left = Instant::now();
    let failure = waits.await.unwrap().unwrap_err();
    assert_eq!((failure.code, failure.sent), (ErrorCode::ToolUnavailable, Sent::No));
    assert!(left.elapsed() <= Duration::from_millis(302), "{:?}", left.elapsed());
    assert!(is_empty(&channel));
}

#[tokio::test(start_paused = true)]
async fn a_given_up_request_is_recalled_from_the_one_that_holds_it_and_from_nobody_else() {
    let channel = channel(0);
    let (mut holder, mut other) = (channel.connect().unwrap(), channel.connect().unwrap());
    let given_up = ask(&channel, "llm.generate");
    let (id, _) = opened(holder.next().await);
    given_up.abort();
    given_up.await.unwrap_err();
    assert_eq!(cancelled(holder.next().await), id);
    assert!(timeout(MINUTE, other.next()).await.is_err());
    assert_eq!(channel.settle(&id, value("1")), Settled::Late);
    assert_eq!(channel.settle(&RequestId::new().to_string(), value("1")), Settled::Unknown);
    assert_eq!(channel.settle("no id", value("1")), Settled::Unknown);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_was_given_up_before_it_was_taken_is_never_seen() {
    let channel = channel(0);
    let mut consumer = channel.connect().unwrap();
    let given_up = ask(&channel, "send.text");
    tokio::task::yield_now().await;
    given_up.abort();
    given_up.await.unwrap_err();
    assert!(timeout(MINUTE, consumer.next()).await.is_err());
    assert!(is_empty(&channel));
}

#[tokio::test(start_paused = true)]
async fn a_thousand_given_up_requests_leave_nothing_behind() {
    let channel = channel(0);
    let mut consumer = channel.connect().unwrap();
    for round in 0..1000 {
        let given_up = ask(&channel, "send.text");
        tokio::task::yield_now().await;
        if round % 2 == 0 {
            opened(consumer.next().await);
        }
        given_up.abort();
        given_up.await.unwrap_err();
        if round % 2 == 0 {
            cancelled(consumer.next().await);
        }
    }
    assert!(is_empty(&channel));
}

#[tokio::test(start_paused = true)]
async fn whoever_polls_counts_as_there_between_two_polls() {
    let channel = channel(0);
    assert!(channel.poll(Duration::from_secs(1), 16).await.is_empty());
    tokio::time::sleep(Duration::from_secs(9)).await;
    let asked = [ask(&channel, "a.x"), ask(&channel, "b.x"), ask(&channel, "c.x")];
    tokio::task::yield_now().await;
    let taken = channel.poll(MINUTE, 2).await;
    assert_eq!(taken.len(), 2);
    for delivery in taken {
        assert_eq!(channel.settle(&opened(Some(delivery)).0, value("1")), Settled::Accepted);
    }
    let polled = Instant::now();
    let [a, b, c] = asked;
    assert!(a.await.unwrap().is_ok() && b.await.unwrap().is_ok());
    assert_eq!(c.await.unwrap().unwrap_err().code, ErrorCode::ToolUnavailable);
    assert_eq!(polled.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_poll_tells_what_was_given_up_since_the_last_one() {
    let channel = channel(0);
    channel.poll(Duration::ZERO, 1).await;
    let given_up = ask(&channel, "a.x");
    tokio::task::yield_now().await;
    let (id, _) = opened(channel.poll(MINUTE, 1).await.pop());
    given_up.abort();
    given_up.await.unwrap_err();
    let started = Instant::now();
    assert_eq!(cancelled(channel.poll(MINUTE, 1).await.pop()), id);
    assert_eq!(started.elapsed(), Duration::ZERO);
    assert!(channel.poll(Duration::from_secs(1), 1).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_closed_channel_lets_its_consumers_go_and_takes_nothing_more() {
    let channel = channel(0);
    let mut consumer = channel.connect().unwrap();
    let ends = tokio::spawn(async move { consumer.next().await.is_none() });
    tokio::task::yield_now().await;
    channel.close();
    assert!(ends.await.unwrap());
    assert!(channel.connect().is_none());
    assert_eq!(ask(&channel, "a.x").await.unwrap().unwrap_err().code, ErrorCode::CancelledShutdown);
}

#[tokio::test(start_paused = true)]
async fn there_is_a_limit_to_the_streams() {
    let channel = channel(0);
    let connected: Vec<_> = (0..MAX_CONSUMERS).map(|_| channel.connect().unwrap()).collect();
    assert!(channel.connect().is_none());
    drop(connected);
    assert!(channel.connect().is_some());
}
