//! Watches the clones from outside: one sample a grid point, phase borders on time, and an end when asked. It runs on
//! a thread of its own and only reads what the clones count, so that it disturbs no I/O.

use crate::analysis::gauge::LiveGauge;
use crate::run::crew::Crew;
use crate::run::sampling::{Flows, Totals};
use crate::run::stop::Stop;
use crate::run::tell::Teller;
use crate::run::witness::Witness;
use crate::system::clock::{Clock, MILLISECOND_NS, Monotonic, wall_ms};
use crate::system::probes::{Counters, Probes};
use leadline_protocol::counters::Residency;
use leadline_protocol::event::EventBody;
use leadline_protocol::phase::{Phase, PhaseState};
use leadline_protocol::plan::resolved::ResolvedJob;
use leadline_protocol::sample::Sample;
use std::thread::{park_timeout, sleep};
use std::time::Duration;

/// The longest sleep between two looks at the stop flag, in ns.
const LOOK_NS: u64 = 50 * MILLISECOND_NS;
/// How long the device's counters may take to settle, in ns.
const SETTLE_NS: u64 = MILLISECOND_NS;
/// How often a clone that sleeps past its border is woken again, in ns.
const WAKE_AGAIN_NS: u64 = MILLISECOND_NS / 2;

/// What was seen of the measured window.
pub struct Watched {
    /// The kernel's counters when it began.
    pub before: Counters,
    /// The kernel's counters when it ended.
    pub after: Counters,
    /// Whether a signal ended it.
    pub stopped: bool,
    /// When it began, in milliseconds since 1970 UTC.
    pub started_at_ms: u64,
}

/// Lets the crew begin, and watches it until all are done.
pub fn watch(
    crew: &Crew,
    jobs: &[ResolvedJob],
    sample_ms: u32,
    probes: &mut Probes,
    witness: &mut Witness,
    teller: &mut Teller,
    stop: &Stop,
) -> Watched {
    if !crew.has_ramp() {
        // It may take longer than the clones' head start.
        witness.start();
    }
    let (begin_ns, measure_ns) = crew.begin();
    let grid_ns = u64::from(sample_ms) * MILLISECOND_NS;
    let mut watch = Watch {
        crew,
        jobs,
        probes,
        witness,
        teller,
        grid_ns,
        stop,
        stopped: false,
        measured_from_ms: 0,
    };
    if measure_ns > begin_ns {
        watch.phase(Phase::Ramp, begin_ns, measure_ns);
    }
    let (before, after) = watch.phase(Phase::Measure, measure_ns, u64::MAX);
    Watched {
        before,
        after,
        stopped: watch.stopped,
        started_at_ms: watch.measured_from_ms,
    }
}

struct Watch<'a, 'b> {
    crew: &'a Crew,
    jobs: &'a [ResolvedJob],
    probes: &'a mut Probes,
    witness: &'a mut Witness,
    teller: &'a mut Teller<'b>,
    grid_ns: u64,
    stop: &'a Stop,
    stopped: bool,
    /// When the measured window began, in milliseconds since 1970 UTC.
    measured_from_ms: u64,
}

impl Watch<'_, '_> {
    /// Samples on the grid from `start_ns` on, until `end_ns` or until all are done. Returns the counters at both ends. The
    /// phase is told to begin and end when it does, not when its counters were read.
    fn phase(&mut self, phase: Phase, start_ns: u64, end_ns: u64) -> (Counters, Counters) {
        // Read while the clones still sleep, so that no I/O of theirs is missed; the window begins with them.
        let mut first = self.probes.read();
        first.at_ns = first.at_ns.max(start_ns);
        if phase == Phase::Measure && self.crew.has_ramp() {
            self.witness.start();
        }
        self.sleep_until(start_ns);
        if phase == Phase::Measure {
            self.measured_from_ms = wall_ms();
        }
        self.teller
            .phase_at(phase, PhaseState::Begin, start_ns.min(Monotonic.now_ns()));
        let (mut counters, mut totals) = (first.clone(), Totals::default());
        let mut gauge = LiveGauge::new(self.jobs);
        let mut grid_point = 1;
        loop {
            let next_ns = self
                .before_the_end(start_ns + grid_point * self.grid_ns)
                .min(end_ns);
            let working = self.sleep_until(next_ns);
            let border_ns = end_ns.min(Monotonic.now_ns());
            let (now_counters, now_totals) = (
                if working {
                    self.probes.read()
                } else {
                    self.settled()
                },
                self.totals(phase),
            );
            let residency = if working || phase != Phase::Measure {
                self.witness.look()
            } else {
                self.witness.end()
            };
            self.sample(
                phase,
                &counters,
                &now_counters,
                now_totals.since(&totals),
                residency,
                &mut gauge,
            );
            (counters, totals) = (now_counters, now_totals);
            if !working || Monotonic.now_ns() >= end_ns {
                self.teller.phase_at(phase, PhaseState::End, border_ns);
                return (first, counters);
            }
            // A grid point that was slept through (SIGSTOP, an overloaded host) is not made up: the window was longer.
            grid_point = (Monotonic.now_ns().saturating_sub(start_ns) / self.grid_ns + 1)
                .max(grid_point + 1);
        }
    }

    /// A grid point, less those in the last half step of the run: what is left behind them would be a window of a few I/Os, whose
    /// rates mean nothing. The last window is that much longer.
    fn before_the_end(&self, next_ns: u64) -> u64 {
        let left_ns = self.crew.end_ns().checked_sub(next_ns);
        if left_ns.is_some_and(|left_ns| left_ns < self.grid_ns / 2) {
            next_ns + self.grid_ns
        } else {
            next_ns
        }
    }

    /// Sleeps until then, and sees to the borders and the stop flag meanwhile. Returns false as soon as all are done.
    fn sleep_until(&mut self, due_ns: u64) -> bool {
        loop {
            let now_ns = Monotonic.now_ns();
            if self.crew.is_done() {
                return false;
            }
            if !self.stopped && self.stop.is_requested() {
                self.stopped = true;
                self.crew.stop();
            }
            if self.crew.has_failed() {
                self.crew.stop();
            }
            self.crew.wake_late(now_ns.saturating_sub(WAKE_AGAIN_NS));
            if now_ns >= due_ns {
                return true;
            }
            let border_ns = self
                .crew
                .next_border_ns(now_ns)
                .map_or(u64::MAX, |border_ns| {
                    border_ns.saturating_add(WAKE_AGAIN_NS)
                });
            park_timeout(Duration::from_nanos(
                due_ns.min(border_ns).min(now_ns + LOOK_NS) - now_ns,
            ));
        }
    }

    /// The counters after the last I/O. The kernel wakes us before it has counted that I/O at the device
    /// (blk_mq_end_request: the bio ends first), so that we give it a moment while requests are in flight.
    fn settled(&mut self) -> Counters {
        let begin = self.probes.read();
        let mut last = begin.clone();
        while Counters::window(&begin, &last)
            .device
            .is_some_and(|device| device.in_flight > 0)
            && last.at_ns < begin.at_ns + SETTLE_NS
        {
            sleep(Duration::from_nanos(SETTLE_NS / 10));
            last = self.probes.read();
        }
        last
    }

    fn totals(&self, phase: Phase) -> Totals {
        let mut totals = Totals::default();
        totals.read(self.crew.ledgers(phase));
        totals
    }

    fn sample(
        &mut self,
        phase: Phase,
        before: &Counters,
        after: &Counters,
        flows: Flows,
        residency: Option<Residency>,
        gauge: &mut LiveGauge,
    ) {
        let window = Counters::window(before, after);
        let Flows {
            read,
            write,
            trim,
            sync,
            in_flight,
            errors,
        } = flows;
        let device = window.device;
        let physical_devices = window.physical_device_counts();
        let mut sample = Sample {
            phase,
            window_ms: window.elapsed_ns as f64 / MILLISECOND_NS as f64,
            read,
            write,
            trim,
            sync,
            in_flight,
            errors,
            device,
            physical_devices,
            memory: window.memory,
            cpu: window.cpu,
            pressure: window.pressure,
            storage: window.storage,
            residency,
            gauge: None,
        };
        sample.gauge = Some(gauge.push(&sample));
        if phase == Phase::Measure {
            self.witness.follow(self.teller.now_ms(), &sample);
        }
        self.teller.tell(EventBody::Sample(Box::new(sample)));
    }
}
