//! The Python module `rxlab._native`: commands called with words, answered with JSON.
//!
//! Everything that Python sees of it is in `rxlab/_native.pyi`.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::prelude::*;
use rxlab::{Answer, Asked, Ended};

create_exception!(rxlab, RxlabError, PyException, "What was wrong, where, and what is allowed.");

/// How long a signal may wait until Python looks at it.
const TURN: Duration = Duration::from_millis(50);

/// What a command tells while it runs: what it does, how much is done, and of how much.
type Told = (String, u64, Option<u64>);

/// Runs a command, given as the words behind the program's name. Without the GIL; a signal's handler may end it.
#[pyfunction]
#[pyo3(signature = (words, *, threads=None, progress=None))]
fn call(
    py: Python<'_>,
    words: Vec<PathBuf>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Vec<String>, Option<String>)> {
    let stop = Arc::new(AtomicBool::new(false));
    let (tell, told) = channel::<Told>();
    let listens = progress.is_some();
    let asked = Asked {
        words: words.into_iter().map(PathBuf::into_os_string).collect(),
        threads,
        heard: Box::new(move |what, done, of| {
            if listens {
                // Nobody listens any more once the call has ended.
                let _ = tell.send((what.to_string(), done, of));
            }
        }),
        stop: Arc::clone(&stop),
        program: own_file(py),
    };
    let (finish, finished) = channel();
    // Looked at without the GIL, which a receiver alone is not made for.
    let finished = Mutex::new(finished);
    let work = thread::Builder::new().name("rxlab".into()).spawn(move || {
        // The other end waits until there is an answer.
        let _ = finish.send(rxlab::call(asked));
    });
    let work = work.map_err(|e| PyRuntimeError::new_err(format!("threads: {e}")))?;
    let mut raised = None;
    let answer = loop {
        match py.detach(|| finished.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(TURN)) {
            Ok(answer) => break answer,
            Err(RecvTimeoutError::Disconnected) => {
                break Err(Ended::Died("its thread ended without an answer".into()));
            }
            Err(RecvTimeoutError::Timeout) if raised.is_none() => {
                if let Err(error) = py.check_signals().and_then(|()| pass_on(py, &told, progress.as_ref())) {
                    raised = Some(error);
                    stop.store(true, Ordering::Relaxed); // a flag alone, read in `Caller::stops`
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    py.detach(|| work.join()).map_err(|_| PyRuntimeError::new_err("the command's thread died"))?;
    match raised {
        Some(error) => Err(error),
        None => {
            pass_on(py, &told, progress.as_ref())?;
            given(answer)
        }
    }
}

/// Hands Python the last of what was told of each thing that is under way.
fn pass_on(py: Python<'_>, told: &Receiver<Told>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    let Some(progress) = progress else { return Ok(()) };
    let mut last: Option<Told> = None;
    while let Ok(next) = told.try_recv() {
        if let Some(before) = last.take_if(|before| before.0 != next.0) {
            progress.call1(py, before)?;
        }
        last = Some(next);
    }
    last.map_or(Ok(()), |last| progress.call1(py, last).map(drop))
}

fn given(answer: Result<Answer, Ended>) -> PyResult<(String, Vec<String>, Option<String>)> {
    match answer {
        Ok(answer) => Ok((answer.printed, answer.notes, answer.met)),
        Err(Ended::Died(what)) => Err(PyRuntimeError::new_err(Ended::Died(what).to_string())),
        Err(other) => Err(RxlabError::new_err(other.to_string())),
    }
}

/// The file of this module.
fn own_file(py: Python<'_>) -> Option<PathBuf> {
    py.import("rxlab._native").ok()?.getattr("__file__").ok()?.extract().ok()
}

/// All commands with their options, as JSON.
#[pyfunction]
fn words() -> String {
    rxlab::words()
}

/// The JSON Schema of what a command writes.
#[pyfunction]
fn schema(command: &str) -> PyResult<String> {
    rxlab::schema(command).map_err(|e| RxlabError::new_err(e.to_string()))
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("RxlabError", module.py().get_type::<RxlabError>())?;
    module.add("__version__", rxlab::version())?;
    module.add_function(wrap_pyfunction!(call, module)?)?;
    module.add_function(wrap_pyfunction!(words, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)
}
