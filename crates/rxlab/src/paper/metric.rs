//! The expressions by which a plan says how a claim's value is obtained from its series.
//!
//! `privring.throughput_gbps@64` is a field of the point at x = 64, `privring.latency_mean_us` the
//! whole series, and `+ - * / < <= > >=`, parentheses and the functions of [`call`] combine them. A
//! comparison gives 1 (yes) or 0 (no). A value that the series do not hold is NaN, which no rule accepts.

/// Throughput from this share of the offered load on counts as line rate. Loads are compared in bits
/// of frames, without preamble, gap and FCS, so 1.0 would be every frame; the last percent is left to
/// the noise of start and end of a window, as a generator's resolution is.
pub(crate) const LINE_RATE: f64 = 0.99;

/// One point of a series: its place on the x axis and its fields.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// The swept parameter; 0 where nothing is swept.
    pub x: f64,
    /// Names and values of [`crate::lab::row::Row::fields`].
    pub fields: Vec<(&'static str, f64)>,
}

impl Sample {
    fn field(&self, name: &str) -> Option<f64> {
        self.fields.iter().find(|f| f.0 == name).map(|f| f.1)
    }

    fn at_line_rate(&self) -> bool {
        match (self.field("throughput_gbps"), self.field("offered_gbps")) {
            (Some(got), Some(offered)) => got >= LINE_RATE * offered,
            _ => false,
        }
    }
}

/// A named series, in ascending order of x.
#[derive(Clone, Debug)]
pub(crate) struct Samples {
    /// The plan's name for it.
    pub id: String,
    /// Its points.
    pub points: Vec<Sample>,
}

/// The values of `text`, one or many.
///
/// # Errors
/// Names what could not be read.
pub(crate) fn eval(text: &str, series: &[Samples]) -> Result<Vec<f64>, String> {
    Ok(value(text, series)?.numbers())
}

fn value<'a>(text: &str, series: &'a [Samples]) -> Result<Value<'a>, String> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, series };
    let value = parser.comparison().map_err(|e| format!("metric `{text}`: {e}"))?;
    match parser.peek() {
        None => Ok(value),
        Some(token) => Err(format!("metric `{text}`: `{token}` is too much")),
    }
}

/// The points of `text`, x and value.
///
/// # Errors
/// Names what could not be read, or that it has no points.
pub(crate) fn points(text: &str, series: &[Samples]) -> Result<Vec<(f64, f64)>, String> {
    match value(text, series)? {
        Value::Points(points) => Ok(points),
        Value::Number(_) | Value::Series(_) => Err(format!("metric `{text}`: points are wanted here")),
    }
}

#[derive(Clone)]
enum Value<'a> {
    Series(&'a Samples),
    Points(Vec<(f64, f64)>),
    Number(f64),
}

impl Value<'_> {
    fn numbers(&self) -> Vec<f64> {
        match self {
            Value::Series(_) => vec![f64::NAN],
            Value::Points(points) => points.iter().map(|p| p.1).collect(),
            Value::Number(n) => vec![*n],
        }
    }

    fn number(&self) -> Result<f64, String> {
        match self.numbers().as_slice() {
            [one] => Ok(*one),
            many => Err(format!("one value is wanted here, not {}", many.len())),
        }
    }
}

struct Parser<'t, 'a> {
    tokens: &'t [String],
    at: usize,
    series: &'a [Samples],
}

impl<'t, 'a> Parser<'t, 'a> {
    fn peek(&self) -> Option<&'t str> {
        self.tokens.get(self.at).map(String::as_str)
    }

    fn next(&mut self) -> Result<&'t str, String> {
        let token = self.peek().ok_or("it ends too early")?;
        self.at += 1;
        Ok(token)
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.peek() == Some(token);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.eat(token) { Ok(()) } else { Err(format!("`{token}` is missing before {:?}", self.peek())) }
    }

    fn comparison(&mut self) -> Result<Value<'a>, String> {
        let left = self.sum()?;
        let Some(op @ ("<" | "<=" | ">" | ">=")) = self.peek() else { return Ok(left) };
        self.at += 1;
        let (a, b) = (left.number()?, self.sum()?.number()?);
        if a.is_nan() || b.is_nan() {
            return Ok(Value::Number(f64::NAN));
        }
        let yes = match op {
            "<" => a < b,
            "<=" => a <= b,
            ">" => a > b,
            _ => a >= b,
        };
        Ok(Value::Number(f64::from(u8::from(yes))))
    }

    fn sum(&mut self) -> Result<Value<'a>, String> {
        let mut left = self.product()?;
        while let Some(op @ ("+" | "-")) = self.peek() {
            self.at += 1;
            let right = self.product()?;
            left = combine(&left, &right, if op == "+" { |a, b| a + b } else { |a, b| a - b })?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Value<'a>, String> {
        let mut left = self.operand()?;
        while let Some(op @ ("*" | "/")) = self.peek() {
            self.at += 1;
            let right = self.operand()?;
            left = combine(&left, &right, if op == "*" { |a, b| a * b } else { |a, b| a / b })?;
        }
        Ok(left)
    }

    fn operand(&mut self) -> Result<Value<'a>, String> {
        let token = self.next()?;
        if token == "(" {
            let inner = self.comparison()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if let Ok(number) = token.parse::<f64>() {
            return Ok(Value::Number(number));
        }
        if self.eat("(") {
            let mut args = vec![self.comparison()?];
            while self.eat(",") {
                args.push(self.comparison()?);
            }
            self.expect(")")?;
            return call(token, &args);
        }
        let series = self.series.iter().find(|s| s.id == token);
        let series = series.ok_or_else(|| format!("there is no series `{token}`"))?;
        if !self.eat(".") {
            return Ok(Value::Series(series));
        }
        let field = self.next()?;
        let points: Vec<_> =
            series.points.iter().map(|p| (p.x, p.field(field).unwrap_or(f64::NAN))).collect();
        if !self.eat("@") {
            return Ok(Value::Points(points));
        }
        let x: f64 = self.next()?.parse().map_err(|_| "a number is missing after `@`")?;
        Ok(Value::Number(points.iter().find(|p| p.0 == x).map_or(f64::NAN, |p| p.1)))
    }
}

/// Point by point where a side has points: those of the same x, or a number for all.
fn combine<'a>(a: &Value, b: &Value, op: fn(f64, f64) -> f64) -> Result<Value<'a>, String> {
    let points = match (a, b) {
        // A series of one point, which nothing is swept in, stands for all.
        (Value::Points(a), Value::Points(b)) if a.len() > 1 && b.len() > 1 => {
            let at = |x: f64| b.iter().find(|p| p.0 == x).map_or(f64::NAN, |p| p.1);
            a.iter().map(|p| (p.0, op(p.1, at(p.0)))).collect()
        }
        (Value::Points(a), b) if a.len() > 1 => {
            let b = b.number()?;
            a.iter().map(|p| (p.0, op(p.1, b))).collect()
        }
        (a, Value::Points(b)) if b.len() > 1 => {
            let a = a.number()?;
            b.iter().map(|p| (p.0, op(a, p.1))).collect()
        }
        (a, b) => return Ok(Value::Number(op(a.number()?, b.number()?))),
    };
    Ok(Value::Points(points))
}

/// `min`, `max`, `mean` of values; `best(a, b)`: the larger one point by point; `argmax(a)`: the x of the
/// largest point; `first_at_least(a, b)`: the first x at which `a` is `b` or more; `line_rate(s)`: 1 where every point of `s` is at line rate;
/// `last_at_line_rate(s)`: the largest x up to which every point is; `second_step(s)`: the first x
/// behind the first point below line rate at which throughput falls again, by [`STEP`] or more;
/// `largest_fall(s)`: the x there at which it falls most.
fn call<'a>(name: &str, args: &[Value<'a>]) -> Result<Value<'a>, String> {
    let numbers = || args.iter().flat_map(Value::numbers).collect::<Vec<_>>();
    // Unlike f64::min, a NaN stays: a missing point must not improve a claim.
    let fold = |pick: fn(f64, f64) -> f64| {
        let numbers = numbers();
        if numbers.iter().any(|n| n.is_nan()) {
            f64::NAN
        } else {
            numbers.into_iter().reduce(pick).unwrap_or(f64::NAN)
        }
    };
    let number = match (name, args) {
        ("min", _) => fold(f64::min),
        ("max", _) => fold(f64::max),
        ("mean", _) => numbers().iter().sum::<f64>() / numbers().len() as f64,
        ("best", [a, b]) => {
            return combine(a, b, |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) });
        }
        ("argmax", [Value::Points(points)]) => {
            points.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(f64::NAN, |p| p.0)
        }
        ("first_at_least", [Value::Points(a), b]) => {
            let enough = combine(&Value::Points(a.clone()), b, |a, b| f64::from(u8::from(a >= b)))?;
            let Value::Points(enough) = enough else { return Err("`first_at_least` takes points".into()) };
            enough.iter().find(|p| p.1 == 1.0).map_or(f64::NAN, |p| p.0)
        }
        ("line_rate", [Value::Series(s)]) => f64::from(u8::from(s.points.iter().all(Sample::at_line_rate))),
        ("last_at_line_rate", [Value::Series(s)]) => {
            s.points.iter().take_while(|p| p.at_line_rate()).last().map_or(f64::NAN, |p| p.x)
        }
        ("second_step", [Value::Series(s)]) => {
            falls(s).into_iter().find(|f| f.1 > STEP).map_or(f64::NAN, |f| f.0)
        }
        ("largest_fall", [Value::Series(s)]) => {
            falls(s).into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(f64::NAN, |f| f.0)
        }
        ("best" | "argmax" | "first_at_least", _) => {
            return Err(format!(
                "`{name}` takes the points of a series, best and first_at_least two operands"
            ));
        }
        ("line_rate" | "last_at_line_rate" | "second_step" | "largest_fall", _) => {
            return Err(format!("`{name}` takes the name of one series"));
        }
        _ => return Err(format!("there is no function `{name}`")),
    };
    Ok(Value::Number(number))
}

/// A fall from one x to the next that counts as a step.
const STEP: f64 = 0.01;

/// Behind the first point below line rate: each x at which throughput falls, and by which share of
/// what it was one x before.
fn falls(s: &Samples) -> Vec<(f64, f64)> {
    let first = s.points.iter().take_while(|p| p.at_line_rate()).count();
    let rest = s.points.get(first..).unwrap_or_default();
    let fall = |pair: &[Sample]| {
        let [before, after] = [0, 1].map(|i| pair[i].field("throughput_gbps").unwrap_or(f64::NAN));
        (pair[1].x, 1.0 - after / before)
    };
    rest.windows(2).map(fall).filter(|f| f.1 > 0.0).collect()
}

fn tokens(text: &str) -> Result<Vec<String>, String> {
    let chars: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut i = 0;
    while let Some(&c) = chars.get(i) {
        let run = |ok: fn(&char) -> bool| chars[i..].iter().take_while(|c| ok(c)).collect::<String>();
        let token = match c {
            c if c.is_whitespace() => {
                i += 1;
                continue;
            }
            c if c.is_ascii_digit() => run(|c| c.is_ascii_digit() || *c == '.'),
            c if c.is_alphabetic() => run(|c| c.is_alphanumeric() || *c == '_'),
            '<' | '>' if chars.get(i + 1) == Some(&'=') => format!("{c}="),
            '<' | '>' | '+' | '-' | '*' | '/' | '(' | ')' | ',' | '.' | '@' => c.to_string(),
            other => return Err(format!("metric `{text}`: `{other}` has no meaning here")),
        };
        i += token.chars().count();
        found.push(token);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(throughput: &[f64]) -> Vec<Samples> {
        let points = throughput.iter().enumerate().map(|(i, &t)| Sample {
            x: f64::from(64u32 << i),
            fields: vec![("throughput_gbps", t), ("offered_gbps", 196.0), ("latency_mean_us", t * 2.0)],
        });
        vec![Samples { id: "privring".into(), points: points.collect() }]
    }

    fn one(text: &str, s: &[Samples]) -> f64 {
        let values = eval(text, s).unwrap();
        assert_eq!(values.len(), 1, "{text}");
        values[0]
    }

    #[test]
    fn arithmetic_and_points() {
        let s = series(&[196.0, 196.0, 190.0, 160.0]);
        assert_eq!(one("1 + 2 * 3 - (4 - 2) / 2", &s), 6.0);
        assert_eq!(one("min(privring.throughput_gbps) / privring.throughput_gbps@64", &s), 160.0 / 196.0);
        assert_eq!(one("max(privring.latency_mean_us, 500)", &s), 500.0);
        assert_eq!(one("privring.throughput_gbps@512 < 161", &s), 1.0);
        assert_eq!(one("privring.throughput_gbps@512 >= 161", &s), 0.0);
        assert_eq!(eval("privring.throughput_gbps", &s).unwrap(), [196.0, 196.0, 190.0, 160.0]);
    }

    #[test]
    fn points_combine_by_x() {
        let mut s = series(&[100.0, 80.0, 60.0]);
        s.push(Samples { id: "shring".into(), ..series(&[50.0, 90.0]).remove(0) });
        assert_eq!(eval("privring.throughput_gbps / 2", &s).unwrap(), [50.0, 40.0, 30.0]);
        assert_eq!(eval("1 - privring.throughput_gbps", &s).unwrap(), [-99.0, -79.0, -59.0]);
        assert_eq!(one("max(best(shring.throughput_gbps, privring.throughput_gbps))", &s), 100.0);
        assert_eq!(one("argmax(shring.throughput_gbps)", &s), 128.0);
        assert_eq!(one("first_at_least(shring.throughput_gbps, 60)", &s), 128.0);
        assert_eq!(one("first_at_least(shring.throughput_gbps, privring.throughput_gbps)", &s), 128.0);
        assert!(one("first_at_least(shring.throughput_gbps, 95)", &s).is_nan());
        assert!(eval("privring.throughput_gbps - shring.throughput_gbps", &s).unwrap()[2].is_nan());
    }

    #[test]
    fn line_rate_and_steps() {
        let s = series(&[196.0, 195.0, 190.0, 189.0, 160.0, 158.0, 157.0]);
        assert_eq!(one("last_at_line_rate(privring)", &s), 128.0);
        assert_eq!(one("second_step(privring)", &s), 1024.0);
        assert_eq!(one("largest_fall(privring)", &s), 1024.0);
        let late = series(&[196.0, 195.0, 190.0, 189.0, 185.0, 184.0, 150.0]);
        assert_eq!(
            [one("second_step(privring)", &late), one("largest_fall(privring)", &late)],
            [1024.0, 4096.0]
        );
        assert_eq!(one("line_rate(privring)", &s), 0.0);
        let flat = series(&[196.0; 4]);
        assert_eq!(one("line_rate(privring)", &flat), 1.0);
        assert_eq!(one("last_at_line_rate(privring)", &flat), 512.0);
        assert!(one("second_step(privring)", &flat).is_nan());
        assert!(one("last_at_line_rate(privring)", &series(&[150.0])).is_nan());
    }

    #[test]
    fn what_is_missing_is_nan_and_stays_nan() {
        let s = series(&[196.0]);
        assert!(one("privring.throughput_gbps@4096", &s).is_nan());
        assert!(one("min(privring.nothing, 3)", &s).is_nan());
        assert!(one("privring.nothing@64 < 3", &s).is_nan());
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        let s = series(&[1.0, 2.0]);
        for bad in [
            "",
            "1 +",
            "shring.mpps",
            "privring.x@y",
            "sqrt(2)",
            "1 2",
            "(1",
            "1 $ 2",
            "min()",
            "line_rate(3)",
        ] {
            assert!(eval(bad, &s).is_err(), "{bad}");
        }
    }
}
