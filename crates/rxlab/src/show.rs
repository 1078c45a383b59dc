//! How results leave the program: as text, as JSON, as a page, in a file. Nothing here knows what is shown.

pub(crate) mod bar;
pub(crate) mod caller;
pub(crate) mod file;
pub(crate) mod html;
pub(crate) mod out;
pub(crate) mod palette;
pub(crate) mod plot;
pub(crate) mod schema;
pub(crate) mod stamp;
pub(crate) mod table;
pub(crate) mod text;
