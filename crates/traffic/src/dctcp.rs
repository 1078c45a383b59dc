//! The window of a DCTCP sender (Alizadeh and others, SIGCOMM 2010, section 3.1; RFC 8257): pure, no clock and no network.
//!
//! Once for each window of data the share of marked frames goes into an estimate, `alpha += g (share - alpha)`. The first
//! mark of a window of data cuts it by `alpha / 2`, a loss by half. It grows by a frame for each that is acknowledged up to the
//! threshold that the last cut left (slow start), by one for each window of data from there on.

/// Weight of the newest window of data in the estimate (section 3.4 of the paper; RFC 8257, section 4.2).
pub const GAIN: f64 = 1.0 / 16.0;
/// Frames of a sender's first window (RFC 6928).
const FIRST: f64 = 10.0;
/// A window beyond any queue of a server and a switch: what a receiver would announce.
const MOST: f64 = 65_536.0;

/// The window of one sender, in frames, which it numbers from 0.
#[derive(Clone, Debug)]
pub struct Window {
    size: f64,
    threshold: f64,
    alpha: f64,
    /// Frames that were acknowledged in this window of data, and that came with a mark.
    acknowledged: u32,
    marked: u32,
    /// The first frame of the next one.
    ends: u64,
    /// Frames from here on were sent behind the last cut.
    cut: u64,
}

impl Default for Window {
    /// Nothing is known of the path: the estimate says that all of it is congested (RFC 8257, section 3.3).
    fn default() -> Window {
        Window { size: FIRST, threshold: MOST, alpha: 1.0, acknowledged: 0, marked: 0, ends: 0, cut: 0 }
    }
}

impl Window {
    /// One that has grown to so many frames, and goes on by one for each window of data.
    pub fn grown(frames: u32) -> Window {
        let size = f64::from(frames).clamp(1.0, MOST);
        Window { size, threshold: size, ..Window::default() }
    }

    /// Frames that may be on their way.
    pub fn frames(&self) -> u32 {
        self.size as u32
    }

    /// The estimate of the share of marked frames.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Frame `number` is acknowledged, with a mark or without; `next` is the number of the next one that is sent.
    pub fn acknowledged(&mut self, number: u64, next: u64, marked: bool) {
        self.acknowledged += 1;
        self.marked += u32::from(marked);
        if number >= self.ends {
            let share = f64::from(self.marked) / f64::from(self.acknowledged);
            self.alpha += GAIN * (share - self.alpha);
            (self.acknowledged, self.marked, self.ends) = (0, 0, next);
        }
        if marked && number >= self.cut {
            self.cut_to(self.size * (1.0 - self.alpha / 2.0), next);
        } else if self.size < self.threshold {
            self.size = (self.size + 1.0).min(MOST);
        } else {
            self.size = (self.size + 1.0 / self.size).min(MOST);
        }
    }

    /// Frame `number` is lost.
    pub fn lost(&mut self, number: u64, next: u64) {
        if number >= self.cut {
            self.cut_to(self.size / 2.0, next);
        }
    }

    /// Nothing was heard of frame `number` for a timeout.
    pub fn timed_out(&mut self, number: u64, next: u64) {
        self.lost(number, next);
        self.size = 1.0;
    }

    fn cut_to(&mut self, size: f64, next: u64) {
        self.size = size.max(1.0);
        self.threshold = self.size;
        self.cut = next;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Heard {
        Acknowledged(bool),
        Lost,
        Nothing,
    }

    fn heard() -> impl Strategy<Value = Heard> {
        prop_oneof![
            8 => any::<bool>().prop_map(Heard::Acknowledged),
            1 => Just(Heard::Lost),
            1 => Just(Heard::Nothing),
        ]
    }

    proptest! {
        #[test]
        fn a_window_holds_a_frame_at_least_and_the_estimate_is_a_share(all in prop::collection::vec(heard(), 1..400)) {
            let (mut window, mut next) = (Window::default(), 0);
            for (number, heard) in all.into_iter().enumerate() {
                let number = number as u64;
                next = next.max(number + u64::from(window.frames()));
                let before = window.clone();
                match heard {
                    Heard::Acknowledged(marked) => window.acknowledged(number, next, marked),
                    Heard::Lost => window.lost(number, next),
                    Heard::Nothing => window.timed_out(number, next),
                }
                prop_assert!(window.frames() >= 1 && window.size <= MOST);
                prop_assert!((0.0..=1.0).contains(&window.alpha()));
                // Within one window of data it is cut once.
                prop_assert!(window.size >= before.size || number >= before.cut || window.size == 1.0);
            }
        }
    }

    /// Windows of data, each with so many marked frames.
    fn windows(window: &mut Window, turns: u32, marked: impl Fn(u32) -> bool) -> Vec<f64> {
        let (mut number, mut sizes) = (0, Vec::new());
        for _ in 0..turns {
            let frames = window.frames();
            let next = number + u64::from(frames);
            for n in 0..frames {
                window.acknowledged(number, next + u64::from(n), marked(n));
                number += 1;
            }
            sizes.push(window.size);
        }
        sizes
    }

    #[test]
    fn without_marks_a_window_doubles_until_it_was_cut_and_then_grows_by_one() {
        let mut window = Window::default();
        assert_eq!(windows(&mut window, 3, |_| false), [20.0, 40.0, 80.0]);
        window.lost(1000, 1000);
        window.cut = 0;
        let grown = windows(&mut window, 5, |_| false);
        assert!((grown[4] - 45.0).abs() < 0.2, "{grown:?}");
    }

    #[test]
    fn a_grown_window_does_not_start_slowly() {
        let mut window = Window::grown(200);
        let sizes = windows(&mut window, 2, |_| false);
        assert!((201.9..202.1).contains(&sizes[1]), "{sizes:?}");
        assert_eq!([Window::grown(0).frames(), Window::grown(u32::MAX).frames()], [1, MOST as u32]);
    }

    #[test]
    fn the_estimate_comes_close_to_the_share_of_marks_and_cuts_by_half_of_it() {
        let mut window = Window::default();
        for number in 0..20_000 {
            window.acknowledged(number, number + 100, number % 4 == 0);
        }
        assert!((window.alpha - 0.25).abs() < 0.01, "{}", window.alpha);
        let mut window = Window { size: 100.0, threshold: 1.0, alpha: 0.5, ..Window::default() };
        window.ends = 1000;
        window.acknowledged(0, 100, true);
        window.acknowledged(1, 100, true);
        assert!((74.9..75.1).contains(&window.size), "cut once by a quarter: {}", window.size);
    }
}
