//! Plots for reports: bars by category, lines over a swept size, each a figure with its key beside the drawing.
//!
//! The drawing is SVG. Colours go through it as numbers that nothing else has, and come out as CSS variables: a page
//! is light or dark, a drawing is neither.

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use serde::Deserialize;

use crate::fail::Fail;
use crate::show::palette::{Colour, NEUTRAL};
use crate::show::table::escape;

/// Of a drawing; pages scale it.
const SIZE: (u32, u32) = (480, 270);
/// Width of a drawing with more than so many categories.
const WIDE: (usize, u32) = (12, 980);
/// Height of the strip below the x axis.
const LABELS: u32 = 24;
/// The same where the axis has a name.
const NAMED: u32 = 44;
/// The backend writes four fifths of it.
const FONT: (&str, u32) = ("sans-serif", 16);
/// About what a character takes.
const CHAR: u32 = 7;
/// Dashes and gaps of a curve that accompanies another, in pixels.
const DASH: (u32, u32) = (4, 3);
const GRID: RGBColor = RGBColor(225, 225, 225);

/// How a bar is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fill {
    /// Its colour.
    Solid,
    /// A shade of it, with an outline.
    Light,
    /// An outline.
    Hollow,
}

/// A bar in every category.
pub(crate) struct Bars {
    /// Its name in the key.
    pub label: String,
    /// How it is told from the others of its category.
    pub fill: Fill,
    /// Its colour; without one it has its category's.
    pub colour: Option<Colour>,
    /// One for each category.
    pub values: Vec<f64>,
}

/// How an x axis is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scale {
    /// Every doubling takes the same space.
    #[default]
    Doubling,
    /// Every unit takes the same space.
    Linear,
}

/// A line.
pub(crate) struct Curve {
    /// Its name in the key; none for a curve that accompanies the one before it: thin and dashed.
    pub label: Option<String>,
    /// Its colour.
    pub colour: Colour,
    /// x and y.
    pub points: Vec<(f64, f64)>,
}

fn fail(e: impl std::fmt::Display) -> Fail {
    Fail::new(format!("a plot could not be drawn: {e}"))
}

/// The upper end of an axis.
fn top(values: impl Iterator<Item = f64>) -> f64 {
    let top = values.filter(|v| v.is_finite()).fold(0.0, f64::max);
    if top > 0.0 { top * 1.06 } else { 1.0 }
}

fn tick(v: &f64) -> String {
    if *v >= 10_000.0 { format!("{:.0}k", v / 1000.0) } else { format!("{}", (v * 100.0).round() / 100.0) }
}

/// A group of bars for each category; `stacked` puts them on top of each other.
///
/// # Errors
/// The drawing fails.
pub(crate) fn bars(
    title: &str,
    unit: &str,
    categories: &[(String, Colour)],
    all: &[Bars],
    stacked: bool,
) -> Result<String, Fail> {
    let height = |g: usize| all.iter().filter_map(move |b| b.values.get(g).copied());
    let groups = 0..categories.len();
    let max = if stacked { top(groups.map(|g| height(g).sum())) } else { top(groups.flat_map(height)) };
    let wide = categories.len() > WIDE.0;
    let width = if wide { WIDE.1 } else { SIZE.0 };
    // Names that do not fit side by side stand upright.
    let longest = categories.iter().map(|c| c.0.chars().count() as u32).max().unwrap_or(0);
    let upright = (longest + 1) * CHAR * categories.len() as u32 > width - 60;
    let strip = if upright { longest * CHAR + 12 } else { LABELS };
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (width, SIZE.1 + strip - LABELS)).into_drawing_area();
        let mut chart = frame(&root, strip, 0.0..categories.len() as f64, 0.0..max)?;
        let mut mesh = chart.configure_mesh();
        mesh.disable_x_mesh().x_labels(0).y_label_formatter(&tick).label_style(FONT);
        mesh.light_line_style(TRANSPARENT).bold_line_style(GRID).draw().map_err(fail)?;
        names(&root, &chart, categories, upright)?;
        let each = if stacked { 0.6 } else { 0.8 / all.len().max(1) as f64 };
        let mut floor = vec![0.0; categories.len()];
        for (i, bars) in all.iter().enumerate() {
            let mut rects = Vec::new();
            for (g, (value, category)) in bars.values.iter().zip(categories).enumerate() {
                let value = if value.is_finite() { *value } else { 0.0 };
                let left = g as f64 + if stacked { 0.2 } else { 0.1 + each * i as f64 };
                let style = filled(bars.fill, bars.colour.unwrap_or(category.1)).filled();
                rects.push(Rectangle::new([(left, floor[g]), (left + each * 0.92, floor[g] + value)], style));
                floor[g] += if stacked { value } else { 0.0 };
            }
            chart.draw_series(rects).map_err(fail)?;
        }
        root.present().map_err(fail)?;
    }
    let class = |fill| match fill {
        Fill::Solid => "solid",
        Fill::Light => "light",
        Fill::Hollow => "hollow",
    };
    let key = all.iter().map(|b| (class(b.fill), b.colour.unwrap_or(NEUTRAL), b.label.as_str()));
    let key: Vec<_> = if all.len() > 1 || stacked { key.collect() } else { Vec::new() };
    Ok(figure(title, unit, wide, &svg, &key))
}

/// Lines over an x axis with its name and scale; `dashed` says what curves without a name are.
///
/// # Errors
/// The drawing fails.
pub(crate) fn lines(
    title: &str,
    unit: &str,
    (x_name, scale): (&str, Scale),
    curves: &[Curve],
    dashed: &str,
) -> Result<String, Fail> {
    let all = || curves.iter().flat_map(|c| c.points.iter());
    let doubling = scale == Scale::Doubling;
    let place = |x: f64| if doubling { x.max(1.0).log2() } else { x };
    let lo = all().map(|p| place(p.0)).fold(f64::INFINITY, f64::min);
    let hi = all().map(|p| place(p.0)).fold(0.0, f64::max);
    let (lo, hi) = if lo.is_finite() && lo < hi { (lo, hi) } else { (hi - 1.0, hi + 1.0) };
    let edge = if doubling { 0.2 } else { (hi - lo) * 0.03 };
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (SIZE.0, SIZE.1 + NAMED - LABELS)).into_drawing_area();
        let mut chart = frame(&root, NAMED, lo - edge..hi + edge, 0.0..top(all().map(|p| p.1)))?;
        let label = |x: &f64| match scale {
            Scale::Doubling if (x - x.round()).abs() < 1e-6 => format!("{:.0}", x.exp2()),
            Scale::Doubling => String::new(),
            Scale::Linear => tick(x),
        };
        let mut mesh = chart.configure_mesh();
        mesh.x_labels(if doubling { (hi - lo) as usize + 2 } else { 9 }).x_label_formatter(&label);
        mesh.y_label_formatter(&tick).x_desc(x_name).label_style(FONT);
        mesh.light_line_style(TRANSPARENT).bold_line_style(GRID).draw().map_err(fail)?;
        for curve in curves {
            let points = curve.points.iter().filter(|p| p.1.is_finite()).map(|p| (place(p.0), p.1));
            let points: Vec<_> = points.collect();
            let colour = filled(Fill::Solid, curve.colour);
            if curve.label.is_none() {
                let dashed = DashedLineSeries::new(points, DASH.0, DASH.1, colour.stroke_width(1));
                chart.draw_series(dashed).map_err(fail)?;
                continue;
            }
            let marks = points.iter().map(|&p| Circle::new(p, 3, colour.filled()));
            chart.draw_series(marks).map_err(fail)?;
            chart.draw_series(LineSeries::new(points, colour.stroke_width(2))).map_err(fail)?;
        }
        root.present().map_err(fail)?;
    }
    let named = curves.iter().filter_map(|c| Some(("line", c.colour, c.label.as_deref()?)));
    let accompanied = curves.iter().any(|c| c.label.is_none());
    let key: Vec<_> = named.chain(accompanied.then_some(("dash", NEUTRAL, dashed))).collect();
    Ok(figure(title, unit, false, &svg, &key))
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

fn frame<'a, 'b>(
    root: &'a Area<'b>,
    strip: u32,
    x: std::ops::Range<f64>,
    y: std::ops::Range<f64>,
) -> Result<Chart<'a, 'b>, Fail> {
    let mut chart = ChartBuilder::on(root);
    chart.margin(8).x_label_area_size(strip).y_label_area_size(44);
    chart.build_cartesian_2d(x, y).map_err(fail)
}

/// Category names below the axis, each under the middle of its group.
fn names(root: &Area, chart: &Chart, categories: &[(String, Colour)], upright: bool) -> Result<(), Fail> {
    let style = TextStyle::from(FONT);
    let style = if upright {
        style.transform(FontTransform::Rotate270).pos(Pos::new(HPos::Right, VPos::Center))
    } else {
        style.pos(Pos::new(HPos::Center, VPos::Top))
    };
    for (g, (name, _)) in categories.iter().enumerate() {
        let (x, y) = chart.backend_coord(&(g as f64 + 0.5, 0.0));
        root.draw(&Text::new(name.as_str(), (x, y + 7), style.clone())).map_err(fail)?;
    }
    Ok(())
}

/// The number that stands for a colour and a fill in a drawing.
fn filled(fill: Fill, colour: Colour) -> RGBColor {
    RGBColor(3, fill as u8, colour.0)
}

/// The drawing with variables for numbers, under its title and above its key: class of the sign, colour, name.
fn figure(title: &str, unit: &str, wide: bool, svg: &str, key: &[(&str, Colour, &str)]) -> String {
    let said = unit.is_empty() || title.ends_with(unit);
    let unit = if said { String::new() } else { format!(", {unit}") };
    let title = escape(&format!("{title}{unit}"));
    let (_, drawing) = svg.split_once("viewBox").unwrap_or_default();
    let svg = format!("<svg role=\"img\" aria-label=\"{title}\" viewBox{}", styled(drawing).trim_end());
    let item = |(class, colour, name): &(&str, Colour, &str)| {
        format!("<li><i class=\"{class}\" style=\"--c:{}\"></i>{}</li>", colour.css(), escape(name))
    };
    let key: String = key.iter().map(item).collect();
    let key = if key.is_empty() { key } else { format!("\n<ul class=\"key\">{key}</ul>") };
    let class = if wide { " class=\"broad\"" } else { "" };
    format!("<figure{class}><figcaption>{title}</figcaption>\n{svg}{key}</figure>")
}

/// Every number for a colour replaced by the style that it stands for.
fn styled(svg: &str) -> String {
    let mut svg = svg.replace(" opacity=\"1\"", "");
    for (of, from, to) in
        [("fill", "000000", "ink"), ("stroke", "000000", "axis"), ("stroke", "E1E1E1", "grid")]
    {
        svg = svg.replace(&format!("{of}=\"#{from}\""), &format!("style=\"{of}:var(--{to})\""));
    }
    for colour in (0..=NEUTRAL.0).map(Colour) {
        for fill in [Fill::Solid, Fill::Light, Fill::Hollow] {
            let RGBColor(r, g, b) = filled(fill, colour);
            let (number, css) = (format!("\"#{r:02X}{g:02X}{b:02X}\""), colour.css());
            let style = match fill {
                Fill::Solid => format!("fill:{css}"),
                Fill::Light => format!("fill:{css};fill-opacity:.3;stroke:{css};stroke-width:1.5"),
                Fill::Hollow => format!("fill:none;stroke:{css};stroke-width:1.5"),
            };
            svg = svg.replace(&format!("fill={number}"), &format!("style=\"{style}\""));
            svg = svg.replace(&format!("stroke={number}"), &format!("style=\"stroke:{css}\""));
        }
    }
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curves() -> Vec<Curve> {
        let curve = |label: Option<&str>, colour, points: &[(f64, f64)]| Curve {
            label: label.map(str::to_string),
            colour: Colour::interface(colour),
            points: points.to_vec(),
        };
        vec![
            curve(Some("first <1>"), "privring", &[(64.0, 1.0), (128.0, f64::NAN)]),
            curve(Some("second"), "shring", &[(64.0, 2.0)]),
            curve(None, "shring", &[(64.0, 3.0), (128.0, 2.0)]),
        ]
    }

    fn two(colour: Option<Colour>) -> Vec<Bars> {
        let bars = |label: &str, fill, values: [f64; 2]| Bars {
            label: label.into(),
            fill,
            colour,
            values: values.into(),
        };
        vec![
            bars("from empty", Fill::Light, [1.0, f64::NAN]),
            bars("from full", Fill::Solid, [2.0, f64::INFINITY]),
        ]
    }

    #[test]
    fn plots_are_figures_without_fixed_colours_and_stand_missing_values() {
        let names = ["privring", "shring"].map(|n| (n.to_string(), Colour::interface(n)));
        let many: Vec<_> = (0..40).map(|i| (format!("{i}/4096"), NEUTRAL)).collect();
        for plot in [
            bars("t", "Gbps", &names, &two(None), false).unwrap(),
            bars("t", "Gbps", &names, &two(Some(Colour::cause(apps::Fate::TxFull))), true).unwrap(),
            bars("t", "Gbps", &many, &two(None), false).unwrap(),
            bars("t", "Gbps", &[], &[], false).unwrap(),
            lines("t", "Gbps", ("ring", Scale::Doubling), &curves(), "d").unwrap(),
            lines("t", "Gbps", ("reads", Scale::Linear), &curves(), "d").unwrap(),
            lines("t", "", ("ring", Scale::Doubling), &[], "d").unwrap(),
        ] {
            assert!(plot.starts_with("<figure") && plot.ends_with("</figure>") && plot.contains("</svg>"));
            assert!(!plot.contains("NaN") && !plot.contains("inf") && !plot.contains("=\"#"), "{plot}");
        }
    }

    #[test]
    fn an_interface_has_its_colour_and_a_start_its_fill() {
        let names = ["privring", "shring"].map(|n| (n.to_string(), Colour::interface(n)));
        let plot = bars("t", "Gbps", &names, &two(None), false).unwrap();
        for colour in names.map(|n| n.1.css()) {
            assert_eq!(plot.matches(&format!("style=\"fill:{colour}\"")).count(), 1, "{plot}");
            assert_eq!(plot.matches(&format!("style=\"fill:{colour};fill-opacity:.3")).count(), 1, "{plot}");
        }
    }

    /// Whatever is named stands in the key, beside the drawing.
    #[test]
    fn the_key_is_no_part_of_the_drawing() {
        let plot = lines("t", "Gbps", ("ring", Scale::Doubling), &curves(), "from empty rings").unwrap();
        let (drawing, key) = plot.split_once("</svg>").unwrap();
        for name in ["first &lt;1&gt;", "second", "from empty rings"] {
            assert!(key.contains(name) && !drawing.contains(name), "{name}: {plot}");
        }
        assert_eq!(key.matches("<li>").count(), 3);
    }
}
