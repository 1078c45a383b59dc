//! Sentences in a terminal.

/// Columns of a terminal that lines of words keep within.
const WIDTH: usize = 100;

/// `text` behind `bullet`, in lines of a terminal's width.
pub(crate) fn wrapped(bullet: &str, text: &str) -> String {
    let mut out = bullet.to_string();
    let mut width = bullet.len();
    for (i, word) in text.split_whitespace().enumerate() {
        let len = word.chars().count();
        if i > 0 && width + 1 + len > WIDTH {
            out += &format!("\n{}", " ".repeat(bullet.len()));
            width = bullet.len();
        } else if i > 0 {
            out.push(' ');
            width += 1;
        }
        out += word;
        width += len;
    }
    out + "\n"
}
