//! Plots as SVG text: bars by interface, lines over a swept size.

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::fail::Fail;
use crate::plan::Scale;

const SIZE: (u32, u32) = (560, 320);
/// Height of the strip below the x axis.
const LABELS: u32 = 38;
const FONT: (&str, u32) = ("sans-serif", 13);
/// Colour-blind safe (Okabe and Ito), then a few of Brewer's.
const COLOURS: [RGBColor; 10] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(60, 60, 60),
    RGBColor(117, 112, 179),
    RGBColor(166, 86, 40),
    RGBColor(102, 166, 30),
];

/// Dashes and gaps of a curve that accompanies another, in pixels.
const DASH: (u32, u32) = (4, 3);
/// The most curves whose names fit into a plot; those of more stand beside it.
const INSIDE: usize = 4;
/// Width of a character beside the plot, height of a line, and what stands before a name.
const BESIDE: (u32, u32, u32) = (7, 18, 26);

/// A named series of a plot.
pub(crate) struct Curve {
    /// Legend entry; none for a curve that accompanies the one before it, in its colour and dashed.
    pub label: Option<String>,
    /// x and y; a bar's x is ignored.
    pub points: Vec<(f64, f64)>,
}

fn colour(i: usize) -> RGBColor {
    COLOURS[i % COLOURS.len()]
}

fn fail(e: impl std::fmt::Display) -> Fail {
    Fail::new(format!("a plot could not be drawn: {e}"))
}

/// The number of each curve's colour: a new one for each name.
fn colours(curves: &[Curve]) -> Vec<usize> {
    let mut named = 0;
    let of = |c: &Curve| {
        named += usize::from(c.label.is_some());
        named.max(1) - 1
    };
    curves.iter().map(of).collect()
}

/// The upper end of an axis: above the largest value by as much as the legend of `entries` takes.
fn top(values: impl Iterator<Item = f64>, entries: usize) -> f64 {
    let top = values.filter(|v| v.is_finite()).fold(0.0, f64::max);
    let legend = if (2..=INSIDE).contains(&entries) { 0.1 * entries as f64 } else { 0.0 };
    if top > 0.0 { top * (1.08 + legend) } else { 1.0 }
}

fn tick(v: &f64) -> String {
    if *v >= 10_000.0 { format!("{:.0}k", v / 1000.0) } else { format!("{}", (v * 100.0).round() / 100.0) }
}

/// Grouped bars: one group per category, one bar per curve (its n-th point for the n-th category);
/// `stacked` puts the curves on top of each other.
pub(crate) fn bars(
    title: &str,
    unit: &str,
    categories: &[String],
    curves: &[Curve],
    stacked: bool,
) -> Result<String, Fail> {
    let mut svg = String::new();
    let height = |g: usize| curves.iter().filter_map(move |c| c.points.get(g)).map(|p| p.1);
    let max = if stacked {
        top((0..categories.len()).map(|g| height(g).sum()), curves.len())
    } else {
        top((0..categories.len()).flat_map(height), curves.len())
    };
    // Names that do not fit side by side stand upright, in a strip of their own.
    let longest = categories.iter().map(|c| c.chars().count() as u32).max().unwrap_or(0);
    let upright = longest * 7 * categories.len() as u32 > SIZE.0 - 80;
    let strip = if upright { longest * 16 / 3 + 12 } else { LABELS };
    {
        let root = SVGBackend::with_string(&mut svg, (SIZE.0, SIZE.1 + strip - LABELS)).into_drawing_area();
        root.fill(&WHITE).map_err(fail)?;
        let groups = categories.len() as f64;
        let mut chart = frame(&root, title, strip, 0.0..groups, 0.0..max)?;

        // Labels stand under the middle of their group.
        let label = |x: &f64| {
            let i = x - 0.5;
            if (i - i.round()).abs() < 1e-6 {
                categories.get(i.round() as usize).cloned().unwrap_or_default()
            } else {
                String::new()
            }
        };
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_labels(if upright { 0 } else { categories.len() * 2 + 1 })
            .x_label_formatter(&label)
            .y_label_formatter(&tick)
            .y_desc(unit)
            .label_style(FONT)
            .light_line_style(TRANSPARENT)
            .bold_line_style(RGBColor(225, 225, 225))
            .draw()
            .map_err(fail)?;
        if upright {
            upright_labels(&root, &chart, categories)?;
        }
        let width = if stacked { 0.6 } else { 0.8 / curves.len().max(1) as f64 };
        let mut floor = vec![0.0; categories.len()];
        for (i, curve) in curves.iter().enumerate() {
            let mut rects = Vec::new();
            for (g, point) in curve.points.iter().enumerate().take(categories.len()) {
                let y = if point.1.is_finite() { point.1 } else { 0.0 };
                let left = g as f64 + if stacked { 0.2 } else { 0.1 + width * i as f64 };
                rects.push(Rectangle::new(
                    [(left, floor[g]), (left + width * 0.94, floor[g] + y)],
                    colour(i).filled(),
                ));
                if stacked {
                    floor[g] += y;
                }
            }
            let drawn = chart.draw_series(rects).map_err(fail)?;
            if let Some(label) = curve.label.as_ref().filter(|_| curves.len() > 1) {
                drawn
                    .label(label)
                    .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 10, y + 5)], colour(i).filled()));
            }
        }
        legend(&mut chart, curves.len())?;
        root.present().map_err(fail)?;
    }
    Ok(svg)
}

/// Lines over an x axis with its name and scale.
pub(crate) fn lines(
    title: &str,
    unit: &str,
    (x_name, scale): (&str, Scale),
    curves: &[Curve],
) -> Result<String, Fail> {
    let mut svg = String::new();
    let all = || curves.iter().flat_map(|c| c.points.iter());
    let doubling = scale == Scale::Doubling;
    let place = |x: f64| if doubling { x.max(1.0).log2() } else { x };
    let lo = all().map(|p| place(p.0)).fold(f64::INFINITY, f64::min);
    let hi = all().map(|p| place(p.0)).fold(0.0, f64::max);
    let (lo, hi) = if lo.is_finite() && lo < hi { (lo, hi) } else { (hi - 1.0, hi + 1.0) };
    let edge = if doubling { 0.2 } else { (hi - lo) * 0.03 };
    let names: Vec<&str> = curves.iter().filter_map(|c| c.label.as_deref()).collect();
    let colours = colours(curves);
    let side = if names.len() > INSIDE { beside_width(&names) } else { 0 };
    {
        let root = SVGBackend::with_string(&mut svg, (SIZE.0 + side, SIZE.1)).into_drawing_area();
        root.fill(&WHITE).map_err(fail)?;
        let (area, margin) = root.split_horizontally(SIZE.0);
        let y = 0.0..top(all().map(|p| p.1), names.len());
        let mut chart = frame(&area, title, LABELS, lo - edge..hi + edge, y)?;
        let label = |x: &f64| match scale {
            Scale::Doubling if (x - x.round()).abs() < 1e-6 => format!("{:.0}", x.exp2()),
            Scale::Doubling => String::new(),
            Scale::Linear => tick(x),
        };
        chart
            .configure_mesh()
            .x_labels(if doubling { (hi - lo) as usize + 2 } else { 9 })
            .x_label_formatter(&label)
            .y_label_formatter(&tick)
            .x_desc(x_name)
            .y_desc(unit)
            .label_style(FONT)
            .light_line_style(TRANSPARENT)
            .bold_line_style(RGBColor(225, 225, 225))
            .draw()
            .map_err(fail)?;
        for (&i, curve) in colours.iter().zip(curves) {
            let points: Vec<_> =
                curve.points.iter().filter(|p| p.1.is_finite()).map(|p| (place(p.0), p.1)).collect();
            let Some(label) = &curve.label else {
                let dashed = DashedLineSeries::new(points, DASH.0, DASH.1, colour(i).stroke_width(1));
                chart.draw_series(dashed).map_err(fail)?;
                continue;
            };
            chart.draw_series(points.iter().map(|&p| Circle::new(p, 3, colour(i).filled()))).map_err(fail)?;
            chart
                .draw_series(LineSeries::new(points, colour(i).stroke_width(2)))
                .map_err(fail)?
                .label(label)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 14, y)], colour(i).stroke_width(3)));
        }
        if names.len() > INSIDE {
            beside(&margin, &names)?;
        } else {
            legend(&mut chart, names.len())?;
        }
        root.present().map_err(fail)?;
    }
    Ok(svg)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

fn frame<'a, 'b>(
    root: &'a Area<'b>,
    title: &str,
    strip: u32,
    x: std::ops::Range<f64>,
    y: std::ops::Range<f64>,
) -> Result<Chart<'a, 'b>, Fail> {
    ChartBuilder::on(root)
        .caption(title, ("sans-serif", 16))
        .margin(8)
        .x_label_area_size(strip)
        .y_label_area_size(58)
        .build_cartesian_2d(x, y)
        .map_err(fail)
}

/// Category names below the axis, each ending under the middle of its group.
fn upright_labels(root: &Area, chart: &Chart, categories: &[String]) -> Result<(), Fail> {
    let style =
        TextStyle::from(FONT).transform(FontTransform::Rotate270).pos(Pos::new(HPos::Right, VPos::Center));
    for (g, name) in categories.iter().enumerate() {
        let (x, y) = chart.backend_coord(&(g as f64 + 0.5, 0.0));
        root.draw(&Text::new(name.as_str(), (x, y + 6), style.clone())).map_err(fail)?;
    }
    Ok(())
}

fn beside_width(names: &[&str]) -> u32 {
    let longest = names.iter().map(|name| name.chars().count() as u32).max().unwrap_or(0);
    BESIDE.2 + BESIDE.0 * longest
}

/// The names of many curves, in a strip of their own where they hide none.
fn beside(strip: &Area, names: &[&str]) -> Result<(), Fail> {
    for (i, name) in names.iter().enumerate() {
        let y = (SIZE.1 / 10 + BESIDE.1 * i as u32) as i32;
        let line = PathElement::new([(4, y), (18, y)], colour(i).stroke_width(3));
        strip.draw(&line).map_err(fail)?;
        let style = TextStyle::from(FONT).pos(Pos::new(HPos::Left, VPos::Center));
        strip.draw(&Text::new(*name, (BESIDE.2 as i32 - 2, y), style)).map_err(fail)?;
    }
    Ok(())
}

fn legend<'a, 'b: 'a>(chart: &mut Chart<'a, 'b>, entries: usize) -> Result<(), Fail> {
    if entries < 2 {
        return Ok(());
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(200, 200, 200))
        .label_font(FONT)
        .draw()
        .map_err(fail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_are_svg_and_stand_missing_values() {
        let curves = || {
            vec![
                Curve { label: Some("empty".into()), points: vec![(64.0, 1.0), (128.0, f64::NAN)] },
                Curve { label: Some("full".into()), points: vec![(64.0, 2.0)] },
                Curve { label: None, points: vec![(64.0, 3.0), (128.0, 2.0)] },
            ]
        };
        let names = ["privring".to_string(), "shring".to_string()];
        for svg in [
            bars("t", "Gbps", &names, &curves(), false).unwrap(),
            bars("t", "Gbps", &names, &curves(), true).unwrap(),
            bars("t", "Gbps", &[], &[], false).unwrap(),
            lines("t", "Gbps", ("ring", Scale::Doubling), &curves()).unwrap(),
            lines("t", "Gbps", ("reads", Scale::Linear), &curves()).unwrap(),
            lines("t", "Gbps", ("ring", Scale::Doubling), &[]).unwrap(),
        ] {
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
            assert!(!svg.contains("NaN"));
        }
    }

    #[test]
    fn many_names_stand_beside_the_plot() {
        let curve = |label: String| Curve { label: Some(label), points: vec![(1.0, 1.0), (2.0, 2.0)] };
        let draw = |n: usize| {
            let curves: Vec<_> = (0..n).map(|i| curve(format!("curve {i}"))).collect();
            lines("t", "Gbps", ("x", Scale::Linear), &curves).unwrap()
        };
        let width = |svg: &str| -> u32 {
            svg.split("width=\"").nth(1).and_then(|w| w.split('"').next()).unwrap().parse().unwrap()
        };
        assert_eq!(width(&draw(INSIDE)), SIZE.0);
        let many = draw(INSIDE + 1);
        assert_eq!(width(&many), SIZE.0 + BESIDE.2 + 7 * BESIDE.0);
        assert!((0..=INSIDE).all(|i| many.contains(&format!("curve {i}"))));
    }

    #[test]
    fn a_curve_without_a_name_has_its_predecessors_colour() {
        let curve = |label: Option<&str>| Curve { label: label.map(str::to_string), points: Vec::new() };
        assert_eq!(colours(&[curve(Some("a")), curve(None), curve(Some("b")), curve(None)]), [0, 0, 1, 1]);
    }
}
