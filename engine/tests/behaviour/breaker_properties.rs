//! Whatever becomes of the calls: the breaker follows its rules, and nobody else notices.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;
use tokio::time::Instant;
use toolyard::{Breaker, ErrorCode, ExecutionClass, ToolBatch, ToolRegistry};

use crate::fixture::{OK, Script, call_with, code_of, limits, ms, provider, run_one, saying, settings};

const BREAKER: Breaker = Breaker {
    failures: 3,
    open: Duration::from_millis(100),
    max_open: Duration::from_millis(350),
    reset_after: Duration::from_secs(3600),
};

#[derive(Clone, Copy, Debug)]
enum Step {
    Act(&'static str),
    /// A call that its caller gives up.
    GiveUp,
    /// This many calls at once, all of which go well or all of which find it broken.
    Together(usize, bool),
    Wait(u64),
    Reload,
}

/// What the breaker must do, told by the ends of calls alone.
#[derive(Default)]
struct Model {
    failures: u32,
    open_until: Option<Instant>,
    level: u32,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => Just(Step::Act("")),
        6 => Just(Step::Act("break")),
        1 => prop_oneof![Just("fail"), Just("refuse"), Just("panic")].prop_map(Step::Act),
        1 => Just(Step::GiveUp),
        2 => (2..6_usize, any::<bool>()).prop_map(|(calls, well)| Step::Together(calls, well)),
        3 => (1..250_u64).prop_map(Step::Wait),
        1 => Just(Step::Reload),
    ];
    vec(step, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_one_probe_at_a_time_tries_a_broken_provider(steps in steps(), task in any::<bool>()) {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(hold(&steps, if task { ExecutionClass::Task } else { ExecutionClass::Io }));
    }
}

async fn hold(steps: &[Step], class: ExecutionClass) {
    let registry = ToolRegistry::new(limits(|_| ()));
    registry.register(provider("p", [saying("say", "hi")]), settings(|_| ())).await.unwrap();
    let script = Script::new("a", ["t", "hang"]);
    let settings = settings(|settings| (settings.breaker, settings.execution) = (Some(BREAKER), class));
    script.launch(&registry, settings).await;
    let mut model = Model::default();
    for step in steps {
        take(*step, &registry, &script, &mut model).await;
        assert_eq!(run_one(&registry, "say").await.status, OK, "others are unaffected");
        // Every call takes time, so that none begins at the moment of a failure before.
        tokio::time::sleep(ms(1)).await;
    }
}

async fn take(step: Step, registry: &ToolRegistry, script: &Arc<Script>, model: &mut Model) {
    let before = script.entered();
    let may_pass = model.may_pass();
    script.most_inside.store(0, Ordering::SeqCst);
    match step {
        Step::Act(what) => {
            let call = call_with("c", "t", &json!({"act": what, "ms": 1}));
            let result = registry.invoke(call, Arc::default()).await.unwrap();
            let refused = code_of(&result) == Some(ErrorCode::ProviderBreakerOpen);
            assert_eq!((refused, script.entered() - before), (!may_pass, usize::from(may_pass)), "{result:?}");
            match what {
                _ if refused => {}
                "" | "fail" => model.answered(),
                "break" => model.broke(),
                _ => {}
            }
        }
        Step::GiveUp => {
            let calls = vec![call_with("c", "hang", &json!({}))];
            registry.dispatch(ToolBatch::new(calls).with_deadline(ms(1))).await;
            assert_eq!(script.entered() - before, usize::from(may_pass));
        }
        Step::Together(calls, well) => {
            let act = if well { "" } else { "break" };
            let all = (0..calls).map(|n| call_with(&format!("c{n}"), "t", &json!({"act": act, "ms": 2})));
            registry.dispatch(ToolBatch::new(all.collect())).await;
            let entered = match (model.open_until, may_pass) {
                (_, false) => 0,
                (Some(_), true) => 1,
                (None, true) => calls,
            };
            assert_eq!(script.entered() - before, entered);
            assert_eq!(script.most_inside.load(Ordering::SeqCst), entered);
            match well {
                _ if entered == 0 => {}
                true => model.answered(),
                false => model.broke(),
            }
        }
        Step::Wait(time) => tokio::time::sleep(ms(time)).await,
        Step::Reload => {
            registry.reload("a").await.unwrap();
            *model = Model::default();
        }
    }
}

// === impl Model ===

impl Model {
    fn may_pass(&self) -> bool {
        self.open_until.is_none_or(|until| Instant::now() >= until)
    }

    fn answered(&mut self) {
        self.failures = 0;
        self.open_until = None;
    }

    fn broke(&mut self) {
        self.failures += 1;
        if self.open_until.is_some() || self.failures >= BREAKER.failures {
            let time = (BREAKER.open * 2_u32.pow(self.level)).min(BREAKER.max_open);
            self.open_until = Some(Instant::now() + time);
            self.level = (self.level + 1).min(8);
        }
    }
}
