//! Two CPUs of this machine, for whatever measures it: threads on either, what lies between them, medians.

pub(crate) mod limit;

/// The middle value; NaN of none.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
