//! Reports: one HTML file that needs nothing else.

use std::fmt::Write as _;

use crate::fail::Fail;
use crate::show::file::Target;
use crate::show::palette;
use crate::show::stamp;
use crate::show::table::{Table, escape};

/// Of light pages, of dark ones, and of all.
const STYLE: &str = "
:root{color-scheme:light dark;--page:#fff;--ink:#1c1c1c;--soft:#5a5a5a;--rule:#ddd;--axis:#555;--grid:#e4e4e4;
--said:#eef5fb;--edge:#0072b2;--win:#f1f8ee;--code:#f3f3f3;--link:#0b5cad}
@media(prefers-color-scheme:dark){:root{--page:#16181b;--ink:#e4e4e4;--soft:#a3a7ab;--rule:#3a3e43;--axis:#9a9a9a;--grid:#303439;
--said:#1b2733;--edge:#4ba8e0;--win:#1d2a20;--code:#24282c;--link:#7cb8f0}}
*{box-sizing:border-box}
body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--page);max-width:1180px;margin:2em auto;padding:0 1em}
h1{font-size:1.5em;margin-bottom:.2em;overflow-wrap:anywhere}h2{font-size:1.15em;margin-top:1.8em}a{color:var(--link)}
.verdict{background:var(--said);border-left:4px solid var(--edge);padding:.7em 1em;margin:1em 0}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9em}
th,td{padding:.25em .7em;border-bottom:1px solid var(--rule);text-align:left;vertical-align:bottom}
th.n,td.n{text-align:right}td.n{white-space:nowrap}th small{font-weight:normal;color:var(--soft)}td:first-child{white-space:nowrap}td.long{min-width:20em}
tr.win{font-weight:600;background:var(--win)}.wide{overflow-x:auto;margin:1em 0}
.plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,440px),1fr));gap:20px 28px}
figure{margin:0;overflow-x:auto}figure svg{display:block;width:100%;height:auto}figcaption{font-weight:600;margin-bottom:.2em}
figure.broad{grid-column:1/-1}figure.broad svg{min-width:720px}
.key{list-style:none;display:flex;flex-wrap:wrap;gap:.1em 1.3em;margin:.3em 0 0 3em;padding:0;font-size:.9em}
.key i{display:inline-block;width:1.2em;height:.75em;margin-right:.45em;position:relative;top:.05em;background:var(--c)}
.key i.light{background:none;border:1.5px solid var(--c);overflow:hidden}
.key i.light::before{content:'';position:absolute;inset:0;background:var(--c);opacity:.3}
.key i.hollow{background:none;border:1.5px solid var(--c)}
.key i.line{height:3px;top:-.25em}.key i.dash{height:0;top:-.25em;background:none;border-top:2px dashed var(--c)}
code{font-size:.85em;background:var(--code);padding:.1em .3em;overflow-wrap:anywhere}
.note{color:var(--soft);font-size:.9em}footer{border-top:1px solid var(--rule);margin-top:2.5em;padding-top:.6em}";

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
        let mut items = items.into_iter().peekable();
        if items.peek().is_none() {
            return;
        }
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

    /// Plots side by side, where there is room.
    pub(crate) fn plots(&mut self, figures: &[String]) {
        let _ = writeln!(self.body, "<div class=\"plots\">{}</div>", figures.join("\n"));
    }

    /// The page's text; its foot says when it was made, and by which command line.
    pub(crate) fn text(&self) -> String {
        let head = format!(
            "<meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>{}</title><style>{STYLE}\n{}</style>",
            escape(&self.title),
            palette::rules()
        );
        let foot = format!("Made {}: <code>{}</code>", escape(&stamp::made()), escape(&stamp::command()));
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head>{head}</head>\n<body>\n{}<footer class=\"note\">{foot}</footer>\n</body></html>\n",
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
