"""The functions: what they take, what they give, how they refuse, how they are ended."""

import inspect
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
import rxlab
from common import SMALL, capture
from rxlab import _native, results

RULES = "flow create 0 ingress pattern eth / ipv4 / udp dst is 53 / end actions queue index 3 / end\n"


@pytest.fixture(scope="module")
def comparison():
    return rxlab.compare(interfaces=["privring", "rxbisect"], **SMALL)


def test_functions_have_the_options_of_the_command_line():
    commands = {" ".join(c["words"]): c for c in json.loads(_native.words())["commands"]}
    functions = {
        "compare": rxlab.compare, "advise": rxlab.advise, "advise flows": rxlab.advise_flows, "trace": rxlab.trace,
        "flow": rxlab.flow, "experiment list": rxlab.experiment_list, "profile show": rxlab.profile,
        "profile list": rxlab.profile_list, "profile check": rxlab.profile_check,
        "profile explain": rxlab.profile_explain, "profile detect": rxlab.profile_detect,
    }
    for words, function in functions.items():
        taken = set(inspect.signature(function).parameters) - {"threads", "progress"}
        assert taken == {option["name"] for option in commands[words]["options"]}, words


def test_an_answer_is_what_the_program_writes(comparison):
    words = rxlab.command_line("compare", dict(SMALL, interfaces=["privring", "rxbisect"]))
    written = json.loads(_native.call(words)[0])
    assert comparison.to_dict()["results"][0]["throughput_gbps"] == written["results"][0]["throughput_gbps"]
    assert comparison.verdict.headline == written["verdict"]["headline"]
    assert isinstance(comparison.results[0], results.Row)


def test_an_answer_does_not_depend_on_threads(comparison):
    assert rxlab.compare(interfaces=["privring", "rxbisect"], threads=1, **SMALL) == comparison


def test_frames_have_the_same_rows(comparison):
    pandas, polars = comparison.to_pandas(), comparison.to_polars()
    assert pandas.shape == polars.shape and len(pandas) == 4
    assert list(pandas["latency_us.p99"]) == polars["latency_us.p99"].to_list() == [row.latency_us.p99 for row in comparison.results]
    assert list(comparison.to_pandas("verdict.carries")["label"]) == ["privring", "rxbisect"]
    with pytest.raises(KeyError, match="no list `nonsense`; there are: .*results"):
        comparison.to_pandas("nonsense")


def test_every_kind_of_answer_has_rows_and_most_a_plot(comparison, tmp_path):
    pcap, rules = capture(tmp_path / "x.pcap"), tmp_path / "x.flow"
    rules.write_text(RULES)
    trace, flow = rxlab.trace(pcap), rxlab.flow(rules, pcap=pcap, repeat=0)
    assert trace.read.packets == 40 and trace.read.flows == 7
    assert flow.endings[0].ending == "queue" and flow.endings[0].frames == 40 and flow.lookup is None
    advice = rxlab.advise_flows(rules=1000, rate=1000)
    profile = rxlab.profile("rxbisect-testbed")
    experiment = rxlab.experiment("rxbisect/fig4", placements=1)
    for answer in (comparison, trace, flow, advice, profile, experiment):
        assert len(answer.to_pandas()) == len(answer.to_polars()) > 0, type(answer)
        file = tmp_path / f"{type(answer).__name__}.png"
        answer.plot().savefig(file)
        assert file.stat().st_size > 5000
    listed = rxlab.experiment_list()
    assert len(listed.to_pandas()) == len(listed) > 10
    assert rxlab.profile_check("rxbisect-testbed").origins
    assert rxlab.profile_explain("cores")[0].place == "cores"
    with pytest.raises(TypeError, match="no plot of ProfileEntry"):
        rxlab.profile_list()[0].plot()


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda: rxlab.compare(cores=0), "--cores 0: allowed: 1 to 16"),
        (lambda: rxlab.compare(cores="many"), "invalid value 'many' for '--cores"),
        (lambda: rxlab.compare(interfaces=["nonsense"]), "nonsense"),
        (lambda: rxlab.compare(workload="fixed:1500", pcap="x.pcap"), "cannot be used with"),
        (lambda: rxlab.trace("/no/such.pcap"), "/no/such.pcap"),
        (lambda: rxlab.experiment("no/such"), "no/such"),
        (lambda: rxlab.profile("-x"), "-x"),
        (lambda: rxlab.run("nonsense", {}), "no command `nonsense` with JSON; allowed: compare, "),
    ],
)
def test_what_is_refused_is_told_in_the_programs_words(call, parts):
    with pytest.raises(rxlab.RxlabError) as refused:
        call()
    assert parts in str(refused.value) and "\n" not in str(refused.value)


def test_what_is_no_option_or_no_value_is_a_type_error():
    with pytest.raises(TypeError, match="no option `cors`; allowed: "):
        rxlab.run("compare", {"cors": 1})
    with pytest.raises(TypeError, match="rate: .* is no number, text or path"):
        rxlab.compare(rate=object())
    with pytest.raises(TypeError, match="no_search: 1; allowed: True, False"):
        rxlab.compare(no_search=1)


def test_a_condition_that_is_met_has_the_answer():
    with pytest.raises(rxlab.ConditionMet, match="p99>0") as met:
        rxlab.compare(interfaces="privring", fail_if=["p99>0"], **SMALL)
    assert met.value.result.results[0].latency_us.p99 > 0


def test_progress_is_told_and_a_listener_that_raises_ends_the_run(capfd):
    heard = []
    rxlab.compare(interfaces="privring", progress=lambda *told: heard.append(told), **SMALL)
    assert heard[-1][0] == "comparing" and 0 < heard[-1][1] <= heard[-1][2]
    rxlab.compare(interfaces="privring", progress=True, **SMALL)
    assert "comparing" in capfd.readouterr().err

    def angry(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        rxlab.compare(interfaces=["privring"], progress=angry, **dict(SMALL, limit_ms=40))


def test_other_threads_run_meanwhile():
    done, turns = threading.Event(), 0

    def work():
        rxlab.compare(interfaces=["privring", "rxbisect"], **SMALL)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        turns += 1
        time.sleep(0.001)
    thread.join()
    assert turns > 20


def test_an_interrupt_ends_a_run_of_minutes_within_seconds():
    code = "import rxlab\nprint('runs', flush=True)\nrxlab.compare(no_cache=True)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "runs\n"
        time.sleep(1)
        began = time.monotonic()
        os.kill(child.pid, signal.SIGINT)
        _, said = child.communicate(timeout=60)
    assert said.rstrip().endswith("KeyboardInterrupt")
    assert child.returncode == -signal.SIGINT or child.returncode == 130 or child.returncode == 1
    assert time.monotonic() - began < 20


def test_the_types_are_right():
    pytest.importorskip("mypy")
    words = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", os.path.dirname(rxlab.__file__)]
    checked = subprocess.run(words, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
