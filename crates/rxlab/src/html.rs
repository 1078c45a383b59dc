//! Reports: one HTML file that needs nothing else.

use std::fmt::Write as _;

use crate::fail::Fail;
use crate::output::Target;
use crate::table::{Table, escape};

const STYLE: &str = "
body{font:15px/1.45 system-ui,sans-serif;color:#1c1c1c;max-width:1180px;margin:2em auto;padding:0 1em}
h1{font-size:1.5em;margin-bottom:.2em}h2{font-size:1.15em;margin-top:1.8em}
.verdict{background:#eef5fb;border-left:4px solid #0072b2;padding:.7em 1em;margin:1em 0}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9em}
th,td{padding:.25em .7em;border-bottom:1px solid #ddd;text-align:left;vertical-align:bottom}
th.n,td.n{text-align:right}th small{font-weight:normal;color:#666}td:first-child{white-space:nowrap}tr.win{font-weight:600;background:#f4f9f2}
.plots{display:flex;flex-wrap:wrap;gap:12px}.plots svg{max-width:100%;height:auto}
code{font-size:.85em;background:#f4f4f4;padding:.1em .3em;overflow-wrap:anywhere}
.note{color:#555;font-size:.9em}.wide{overflow-x:auto}";

/// A report under construction.
pub(crate) struct Html {
    body: String,
    title: String,
}

impl Html {
    /// A report with its heading.
    pub(crate) fn new(title: &str) -> Html {
        Html { body: format!("<h1>{}</h1>\n", escape(title)), title: title.into() }
    }

    /// A section's heading.
    pub(crate) fn section(&mut self, title: &str) {
        let _ = writeln!(self.body, "<h2>{}</h2>", escape(title));
    }

    /// The answer, set apart; `strong` leads it.
    pub(crate) fn verdict(&mut self, strong: &str, text: &str) {
        let _ = writeln!(
            self.body,
            "<p class=\"verdict\"><strong>{}</strong> {}</p>",
            escape(strong),
            escape(text)
        );
    }

    /// A remark.
    pub(crate) fn note(&mut self, text: &str) {
        let _ = writeln!(self.body, "<p class=\"note\">{}</p>", escape(text));
    }

    /// Remarks in a list.
    pub(crate) fn list(&mut self, items: impl IntoIterator<Item = String>) {
        self.body += "<ul class=\"note\">\n";
        for item in items {
            let _ = writeln!(self.body, "<li>{}</li>", escape(&item));
        }
        self.body += "</ul>\n";
    }

    /// Command lines in a list, each behind what it is for.
    pub(crate) fn commands(&mut self, items: impl IntoIterator<Item = (String, String)>) {
        self.body += "<ul>\n";
        for (what, command) in items {
            let _ = writeln!(self.body, "<li>{}: <code>{}</code></li>", escape(&what), escape(&command));
        }
        self.body += "</ul>\n";
    }

    /// Ways to other pages beside this one: file name and what is there.
    pub(crate) fn links(&mut self, items: impl IntoIterator<Item = (String, String)>) {
        self.body += "<ul>\n";
        for (file, what) in items {
            let _ = writeln!(self.body, "<li><a href=\"{}\">{}</a></li>", escape(&file), escape(&what));
        }
        self.body += "</ul>\n";
    }

    /// A table.
    pub(crate) fn table(&mut self, table: &Table) {
        let _ = writeln!(self.body, "<div class=\"wide\">{}</div>", table.html());
    }

    /// Plots side by side.
    pub(crate) fn plots(&mut self, svgs: &[String]) {
        let _ = writeln!(self.body, "<div class=\"plots\">{}</div>", svgs.join("\n"));
    }

    /// The page's text.
    pub(crate) fn text(&self) -> String {
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title><style>{STYLE}</style></head>\n<body>\n{}</body></html>\n",
            escape(&self.title),
            self.body
        )
    }
}

/// Writes the page that was asked for, whether results were `shown` or stdout failed: they took minutes.
///
/// # Errors
/// What was not shown, or else what cannot be drawn or written.
pub(crate) fn deliver(
    shown: Result<(), Fail>,
    target: Option<&Target>,
    page: impl FnOnce() -> Result<Html, Fail>,
) -> Result<(), Fail> {
    let written = target.map_or(Ok(()), |target| target.write(&page()?.text()));
    shown.and(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_needs_nothing_else_and_escapes_what_it_shows() {
        let mut html = Html::new("a < b");
        html.verdict("x", "<script>");
        let text = html.text();
        assert!(text.contains("a &lt; b") && !text.contains("<script>"));
        assert!(!text.contains("href=") && !text.contains("src="));
    }
}
