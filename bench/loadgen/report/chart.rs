//! Charts as SVG inside of a page: lines over linear or logarithmic axes, and bars. Colours are the page's own classes, so
//! that light and dark follow it.

use std::fmt::Write as _;

use super::page::escape;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 300.0;
/// Room for the labels of the axes.
const LEFT: f64 = 92.0;
const RIGHT: f64 = 40.0;
const TOP: f64 = 18.0;
const BOTTOM: f64 = 40.0;

/// A chart of lines.
#[derive(Debug)]
pub(super) struct Chart {
    /// For those who cannot see it.
    pub(super) title: String,
    pub(super) lines: Vec<Line>,
    pub(super) x: Axis,
    pub(super) y: Axis,
}

/// One line, drawn in the colour of its place.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) name: &'static str,
    pub(super) points: Vec<(f64, f64)>,
}

/// Where values stand, and which are labelled.
#[derive(Debug)]
pub(super) struct Axis {
    pub(super) scale: Scale,
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) ticks: Vec<(f64, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scale {
    Linear,
    Logarithmic,
}

/// A bar: its name, its length, and what stands beside it.
#[derive(Debug)]
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) value: f64,
    pub(super) label: String,
    pub(super) is_good: bool,
}

// === impl Axis ===

impl Axis {
    /// From 0 to the next round number, with about five labels.
    pub(super) fn linear(most: f64, label: impl Fn(f64) -> String) -> Self {
        let most = if most > 0.0 { most } else { 1.0 };
        let rough = most / 4.0;
        let magnitude = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|n| n * magnitude).into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(rough);
        let steps = (most / step).ceil().max(1.0);
        let ticks = (0..=steps as u32).map(|n| f64::from(n) * step).map(|value| (value, label(value))).collect();
        Self { scale: Scale::Linear, from: 0.0, to: steps * step, ticks }
    }

    /// Between the round numbers around the values: powers of ten, and twice and five times them where there are few.
    pub(super) fn logarithmic(least: f64, most: f64, label: impl Fn(f64) -> String) -> Self {
        let (least, most) = if least > 0.0 && most >= least { (least, most) } else { (0.1, 1.0) };
        let powers = least.log10().floor() as i32..=most.log10().ceil() as i32;
        let steps: &[f64] = if most / least < 200.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let round = powers.flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)));
        let round: Vec<f64> = round.collect();
        let from = round.iter().copied().filter(|value| *value <= least).fold(f64::MIN_POSITIVE, f64::max);
        let above = round.iter().copied().filter(|value| *value >= most && *value > from);
        let to = above.fold(f64::INFINITY, f64::min);
        let to = if to.is_finite() { to } else { from * 10.0 };
        let ticks = round.into_iter().filter(|value| (from..=to).contains(value));
        let ticks = ticks.map(|value| (value, label(value))).collect();
        Self { scale: Scale::Logarithmic, from, to, ticks }
    }

    /// Where a value stands, from 0 to 1.
    fn place(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.from) / (self.to - self.from),
            Scale::Logarithmic => {
                (value.max(self.from).log10() - self.from.log10()) / (self.to.log10() - self.from.log10())
            }
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }
}

// === impl Chart ===

impl Chart {
    pub(super) fn svg(&self) -> String {
        let title = escape(&self.title);
        let mut svg = format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\"><title>{title}</title>\n"
        );
        self.grid(&mut svg);
        for (place, line) in self.lines.iter().enumerate() {
            let points = line.points.iter().map(|(x, y)| format!("{:.1},{:.1}", self.x_at(*x), self.y_at(*y)));
            let points = points.collect::<Vec<_>>().join(" ");
            match line.points[..] {
                // A line of one point would not be seen.
                [(x, y)] => {
                    let (x, y) = (self.x_at(x), self.y_at(y));
                    writeln!(svg, "<circle class=\"dot c{place}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>").ok()
                }
                _ => writeln!(svg, "<polyline class=\"line c{place}\" points=\"{points}\"/>").ok(),
            };
        }
        svg.push_str("</svg>\n");
        svg.push_str(&self.legend());
        svg
    }

    fn grid(&self, svg: &mut String) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for (value, label) in &self.y.ticks {
            let (y, label) = (self.y_at(*value), escape(label));
            write!(svg, "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\"/>").ok();
            writeln!(svg, "<text class=\"y\" x=\"{:.1}\" y=\"{:.1}\">{label}</text>", LEFT - 8.0, y + 2.0).ok();
        }
        for (value, label) in &self.x.ticks {
            let (x, label) = (self.x_at(*value), escape(label));
            write!(svg, "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>").ok();
            writeln!(svg, "<text class=\"x\" x=\"{x:.1}\" y=\"{:.1}\">{label}</text>", bottom + 24.0).ok();
        }
    }

    fn legend(&self) -> String {
        let names = self.lines.iter().enumerate();
        let names = names.map(|(place, line)| format!("<span><i class=\"c{place}\"></i>{}</span>", escape(line.name)));
        format!("<p class=\"legend\">{}</p>\n", names.collect::<String>())
    }

    fn x_at(&self, value: f64) -> f64 {
        LEFT + self.x.place(value) * (WIDTH - LEFT - RIGHT)
    }

    fn y_at(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.y.place(value) * (HEIGHT - TOP - BOTTOM)
    }
}

/// Bars below each other, the longest over the whole width.
pub(super) fn bars(bars: &[Bar]) -> String {
    let most = bars.iter().map(|bar| bar.value).fold(f64::MIN_POSITIVE, f64::max);
    let bars = bars.iter().map(|Bar { name, value, label, is_good }| {
        let (class, width) = (if *is_good { "good" } else { "bad" }, value / most * 100.0);
        format!(
            "<div class=\"bar\"><span>{}</span><b><i class=\"{class}\" style=\"width:{width:.2}%\"></i></b><span>{}</span></div>\n",
            escape(name),
            escape(label)
        )
    });
    bars.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers_and_label_them() {
        let axis = Axis::linear(37.0, |value| format!("{value}"));
        assert_eq!(axis.ticks.iter().map(|tick| tick.0).collect::<Vec<_>>(), [0.0, 10.0, 20.0, 30.0, 40.0]);
        assert!((axis.to - 40.0).abs() < 1e-9);
        let axis = Axis::logarithmic(0.3, 450.0, |value| format!("{value}"));
        assert_eq!(axis.ticks.len(), 5);
        assert!((axis.place(10.0) - 0.5).abs() < 1e-9);
        let axis = Axis::logarithmic(13.0, 34.0, |value| format!("{value}"));
        assert_eq!(axis.ticks.iter().map(|tick| tick.0).collect::<Vec<_>>(), [10.0, 20.0, 50.0]);
        assert_eq!(Axis::logarithmic(10.0, 10.0, |_| String::new()).ticks.len(), 2);
        // Nothing was measured.
        assert!(Axis::logarithmic(0.0, 0.0, |_| String::new()).place(0.0).abs() < 1e-9);
        assert_eq!(Axis::linear(0.0, |_| String::new()).ticks.len(), 5);
    }

    #[test]
    fn lines_stay_inside_the_picture_and_titles_are_escaped() {
        let chart = Chart {
            title: "a < b".to_owned(),
            lines: vec![Line { name: "p50", points: vec![(0.0, 0.0), (9.0, f64::NAN), (500.0, 1e9)] }],
            x: Axis::linear(10.0, |value| format!("{value}")),
            y: Axis::logarithmic(1.0, 100.0, |value| format!("{value}")),
        };
        let svg = chart.svg();
        assert!(svg.contains("aria-label=\"a &lt; b\""));
        let points = svg.split("points=\"").nth(1).unwrap().split('"').next().unwrap();
        for point in points.split(' ') {
            let (x, y) = point.split_once(',').unwrap();
            let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
            assert!((0.0..=WIDTH).contains(&x) && (0.0..=HEIGHT).contains(&y), "{point}");
        }
    }
}
