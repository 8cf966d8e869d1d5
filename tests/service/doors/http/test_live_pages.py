"""The pages Live, and Judges and boxes, in a real browser."""

import itertools
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from playwright.sync_api import Browser, BrowserContext, Locator, Route, expect

from service.limits.keys import new_key
from tests.browser import Opened, check_accessible, window
from tests.conftest import Serve, Served, rewardline
from tests.judge_upstream.grader import Grader
from tests.waiting import PATIENCE_S, eventually

LIVE = "/console/live"
JUDGES = "/console/judges"
NAMES = ("Ada", "Bob", "Eve", "Max")
KEY = "console-secret-0123456"
HOSTILE = "<img src=x onerror=alert(1)> \u202eabc\u202c"
POLLS = 3


def tile(opened: Opened, name: str) -> Locator:
    return opened.page.locator("figure.tile", has=opened.page.get_by_role("heading", name=name, exact=True))


def card(opened: Opened, name: str) -> Locator:
    return opened.page.locator("div.tile", has=opened.page.locator("h3", has_text=name)).first


@contextmanager
def scoring(served: Served, *, rows: int = 1000) -> Iterator[None]:
    """A trainer that sends batches of new rows, one after the other, until the block ends."""
    numbers, over = itertools.count(), threading.Event()

    def work() -> None:
        while not over.is_set():
            batch = [_row(next(numbers)) for _ in range(rows)]
            assert httpx.post(f"{served.url}/v1/score", json={"items": batch}, timeout=PATIENCE_S).status_code == 200

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _row(number: int) -> dict[str, Any]:
    return {"verifier": "exact_match", "response": str(number), "reference": str(number - number % 2)}


@pytest.mark.browser
def test_the_last_hour_is_shown_and_goes_on(serve: Serve, context: BrowserContext) -> None:
    served = serve(sandbox="none")  # what other tests have judged would count here
    opened = Opened(context, f"{served.url}{LIVE}")
    expect(opened.page.locator("#state")).to_contain_text("a figure each 5 s")
    expect(tile(opened, "Under way").locator(".now")).to_have_text("0")
    expect(tile(opened, "Under way").get_by_role("img")).to_have_attribute(
        "aria-label", re.compile(r"^Under way, last hour: Under way now 0, highest \d+$")
    )
    assert opened.page.get_by_role("heading", level=2).all_inner_texts()[:3] == [
        "The last hour",
        "Now",
        "What is judged",
    ]
    with scoring(served, rows=20):
        correct = tile(opened, "Share judged correct")
        correct.scroll_into_view_if_needed()  # a tile is drawn, and has rows, only while it is in view
        expect(correct.locator("tr", has_text="exact_match")).to_contain_text("50 %")
        expect(tile(opened, "Items per second").locator(".now")).not_to_have_text("0 /s")
    assert opened.complaints == []


@pytest.mark.browser
def test_a_thousand_rows_at_once_are_as_little_work_for_the_page_as_one(serve: Serve, context: BrowserContext) -> None:
    """The page's work is the same whatever the service does: nodes and changes of the page do not grow with rows."""
    served = serve(sandbox="none")
    opened = Opened(context, f"{served.url}{LIVE}")
    opened.page.set_viewport_size({"width": 1400, "height": 6000})
    with scoring(served, rows=1):
        _changes(opened)  # until all lines of this work are there
        few, nodes = _changes(opened), _nodes(opened)
    with scoring(served, rows=1000):
        many = _changes(opened)
        _changes(opened)
    assert many <= 2 * few
    assert _nodes(opened) <= nodes + 200  # the lines of other batches' latencies
    values = opened.page.evaluate(
        "Math.max(...[...document.querySelectorAll('svg path')].map(each => (each.getAttribute('d') || '').length))"
    )
    assert values < 720 * 20
    assert opened.complaints == []


def _changes(opened: Opened) -> int:
    """The number of changes of the page while it takes some answers."""
    opened.page.evaluate(
        """() => {
            window.changes = 0;
            window.watching = new MutationObserver((found) => { window.changes += found.length; });
            const every = { subtree: true, childList: true, attributes: true, characterData: true };
            window.watching.observe(document.body, every);
        }"""
    )
    for _ in range(POLLS):
        with opened.page.expect_response(lambda response: "/v1/series?since=" in response.url):
            pass
    opened.page.evaluate("new Promise(requestAnimationFrame)")
    return int(opened.page.evaluate("() => { window.watching.disconnect(); return window.changes; }"))


def _nodes(opened: Opened) -> int:
    return int(opened.page.evaluate("document.getElementsByTagName('*').length"))


@pytest.mark.browser
def test_a_hidden_page_asks_for_nothing(served: Served, context: BrowserContext) -> None:
    context.add_init_script(
        "let hidden = false; Object.defineProperty(document, 'hidden', { get: () => hidden });"
        "window.hide = (now) => { hidden = now; document.dispatchEvent(new Event('visibilitychange')); };"
    )
    opened = Opened(context, "about:blank")
    opened.page.clock.install()
    asked: list[str] = []
    opened.page.on("request", lambda request: asked.append(request.url) if "/v1/" in request.url else None)
    opened.page.goto(f"{served.url}{LIVE}")
    expect(tile(opened, "Under way").locator(".now")).to_be_visible()
    opened.page.evaluate("hide(true)")
    before = len(asked)
    opened.page.clock.fast_forward("10:00")
    assert len(asked) == before
    with opened.page.expect_response(lambda response: "/v1/series?since=" in response.url):
        opened.page.evaluate("hide(false)")
    assert opened.complaints == []


@pytest.mark.browser
def test_answers_of_another_replica_begin_anew(served: Served, context: BrowserContext) -> None:
    past = httpx.get(f"{served.url}/v1/series").json()
    opened = Opened(context, "about:blank")
    opened.page.clock.install()
    replicas = iter(["one", "other", "other", "other"])

    def answer(route: Route) -> None:
        replica = next(replicas, "other")
        panels = [] if "since" in route.request.url else past["panels"]
        series = [{**each, "values": [1.0 if replica == "one" else 7.0]} for each in past["series"]]
        route.fulfill(json={**past, "replica": replica, "panels": panels, "series": series, "until": past["start"]})

    context.route("**/v1/series*", answer)
    opened.page.goto(f"{served.url}{LIVE}")
    expect(tile(opened, "Under way").locator(".now")).to_have_text("1")
    opened.page.clock.fast_forward(6000)
    expect(opened.page.locator("#state")).to_contain_text("Replica other")
    expect(tile(opened, "Under way").locator(".now")).to_have_text("7")
    assert opened.complaints == []


@pytest.mark.browser
def test_many_lines_are_a_few_in_the_picture_and_all_in_the_table(served: Served, context: BrowserContext) -> None:
    past = httpx.get(f"{served.url}/v1/series").json()
    hour = [None, *range(719)]
    lines: list[dict[str, Any]] = [
        {
            "name": "Verdicts by reason",
            "legend": f"{HOSTILE} {number}",
            "unit": "ops",
            "labels": {},
            "values": [number] * 720,
        }
        for number in range(1, 26)
    ]
    one: dict[str, Any] = {
        "name": "Could not be judged",
        "legend": "",
        "unit": "percentunit",
        "labels": {},
        "values": [0.25] * 720,
    }
    ramp: dict[str, Any] = {"name": "Under way", "legend": "", "unit": "short", "labels": {}, "values": hour}
    nothing = {**past, "panels": [], "series": [{**each, "values": []} for each in (*lines, one, ramp)]}
    context.route("**/v1/series", lambda route: route.fulfill(json={**past, "series": [*lines, one, ramp]}))
    context.route("**/v1/series?*", lambda route: route.fulfill(json=nothing))
    opened = Opened(context, f"{served.url}{LIVE}")
    found = tile(opened, "Verdicts by reason")
    found.scroll_into_view_if_needed()
    expect(found.locator("tbody tr")).to_have_count(8)
    expect(found.locator("tbody tr").first).to_contain_text(f"{HOSTILE} 25")
    expect(found.locator(".plot path:not(.cursor)")).to_have_count(8)
    found.get_by_role("button", name="Show all 25").click()
    expect(found.locator("tbody tr")).to_have_count(25)
    assert opened.page.locator("#rows img").count() == 0
    expect(tile(opened, "Could not be judged").locator(".now.bad")).to_have_text("25 %, above 0.1 %")
    way = tile(opened, "Under way")
    expect(way.locator(".now")).to_have_text("718")
    expect(way.locator(".ends")).to_contain_text("60 min ago")
    way.locator(".plot svg").hover()
    expect(way.locator(".now")).to_contain_text(re.compile(r"^3(5\d|6\d) at "))
    opened.page.mouse.move(0, 0)
    expect(way.locator(".now")).to_have_text("718")
    assert opened.complaints == []


@pytest.mark.browser
def test_with_keys_the_pages_ask_for_one_and_go_on_when_the_service_is_back(
    serve: Serve, context: BrowserContext
) -> None:
    served = serve(api_keys=f"me={KEY}")
    opened = Opened(context, f"{served.url}{LIVE}")
    expect(opened.page.locator("#state")).to_have_text("Give an API key above.")
    opened.page.get_by_label("API key").fill(KEY)
    opened.page.keyboard.press("Enter")
    expect(tile(opened, "Under way").locator(".now")).to_have_text("0")
    context.route("**/v1/series*", lambda route: route.abort())
    expect(opened.page.locator("#state")).to_contain_text("asks again")
    context.unroute("**/v1/series*")
    expect(opened.page.locator("#state")).to_contain_text("a figure each")
    opened.page.goto(f"{served.url}{JUDGES}")
    expect(opened.page.locator("#judges")).to_contain_text("There are no judge models.")
    expect(opened.page.locator("#boxes")).to_contain_text("without boxes for programs")
    assert all("401" in complaint or "ERR_FAILED" in complaint for complaint in opened.complaints)


@pytest.mark.browser
def test_judges_and_boxes_are_shown_as_they_are(serve: Serve, context: BrowserContext, tmp_path: Path) -> None:
    with Grader() as grader:
        health = {"probe": False, "failures": 1, "eject_s": 3600, "eject_cap_s": 3600}
        endpoint = {"base_url": grader.url, "model": HOSTILE, "health": health, "rpm": 600}
        pool = {"members": ["grader"], "retry": {"attempts": 1}}
        served = serve(
            judge_file=str(grader.file(tmp_path, endpoints={"grader": endpoint}, pools={"judges": pool})),
            sandbox="local",
        )
        opened = Opened(context, f"{served.url}{JUDGES}")
        found = card(opened, "grader")
        expect(found).to_contain_text("healthy")
        expect(found).to_contain_text("600 calls per minute")
        expect(found).to_contain_text(HOSTILE)
        grader.trouble = lambda number: (500, "no")
        item = {"verifier": "judge", "prompt": "Which town?", "reference": "Paris", "response": "It may be Lyon"}
        httpx.post(f"{served.url}/v1/score", json={"items": [item]}, timeout=PATIENCE_S)
        expect(found).to_contain_text("gets no calls for")
        expect(found).to_contain_text("upstream_5xx 1")
    boxes = card(opened, "local")
    eventually(lambda: httpx.get(f"{served.url}/v1/sandbox").json()["state"] == "ready")
    expect(boxes).to_contain_text("attacks were stopped at the start: network")
    expect(boxes).to_contain_text("python")
    expect(card(opened, "Kinds")).to_contain_text("in use")
    assert opened.complaints == []


@pytest.mark.browser
def test_what_the_command_measured_is_shown(serve: Serve, context: BrowserContext, tmp_path: Path) -> None:
    """Also of a report that the reader chooses, and that is none."""
    with Grader() as grader:
        judge_file = grader.file(tmp_path)
        rows = [
            {"prompt": "Who?", "response": "It is Ada", "reference": name, "label": name == "Ada"} for name in NAMES
        ]
        (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        opened = Opened(context, f"{serve(judge_file=str(judge_file), sandbox='none').url}{JUDGES}")
        shown = opened.page.locator("#evaluations")
        expect(shown).to_contain_text("No profile was measured here")
        evaluate = ("judges", "evaluate", tmp_path / "rows.jsonl", "--judges", judge_file, "--json")
        told = rewardline(*evaluate, "--profile", "reference")
        assert told.returncode == 0, told.stderr
        expect(shown).to_contain_text("4 of 4 judged, mode reference", timeout=PATIENCE_S * 1000)
        expect(shown).to_contain_text("1.000 (0.510 to 1.000)")
        expect(shown).to_contain_text("110 tokens")
    chosen = opened.page.locator("#report")
    reported = json.loads(told.stdout)
    reported[0] |= {"profile": HOSTILE, "mode": "pairwise", "not_judged": {HOSTILE: 1}}
    content = json.dumps(reported).encode()
    chosen.set_input_files({"name": "r.json", "mimeType": "application/json", "buffer": content})
    expect(opened.page.locator("#reported")).to_contain_text(HOSTILE)
    expect(opened.page.locator("#reported")).to_contain_text("Position bias")
    chosen.set_input_files({"name": "x.json", "mimeType": "application/json", "buffer": b"{}"})
    expect(opened.page.locator("#reported")).to_contain_text("x.json is not a report")
    assert opened.complaints == []


@pytest.mark.browser
@pytest.mark.parametrize(
    ("scopes", "seen"), [(["score", "admin"], ["blue", "", "red", ""]), (["score"], ["red", "", "red", "grpo-7"])]
)
def test_usage_is_shown_beside_its_budget(
    serve: Serve, context: BrowserContext, tmp_path: Path, scopes: list[str], seen: list[str]
) -> None:
    secrets = {name: new_key() for name in ("red", "blue")}
    specs = {name: {"sha256": digest, "scopes": scopes} for name, (_, digest) in secrets.items()}
    file = tmp_path / "keys.yaml"
    file.write_text(yaml.safe_dump({"keys": specs, "tenants": {"red": {"budget": {"items": 2}}}}))
    served = serve(keys_file=str(file), sandbox="none")
    item = {"verifier": "exact_match", "response": "a", "reference": "a"}
    for name, (key, _) in secrets.items():
        headers = {"Authorization": f"Bearer {key}", "X-Run-Id": "grpo-7"}
        reply = httpx.post(f"{served.url}/v1/score", json={"items": [item] * 3}, headers=headers, timeout=PATIENCE_S)
        assert reply.status_code == 200, name
    opened = Opened(context, f"{served.url}{JUDGES}")
    opened.page.get_by_label("API key").fill(secrets["red"][0])
    opened.page.keyboard.press("Enter")
    usage = opened.page.locator("#usage")
    expect(usage).to_contain_text("3 of 2, used up")
    cells = usage.locator("tbody td bdi").all_inner_texts()
    assert cells == seen


@pytest.mark.browser
@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 1400), ("light", 390)])
def test_axe_finds_no_fault(served: Served, browser: Browser, scheme: Any, width: int, tmp_path: Path) -> None:
    with window(browser, scheme, width) as context:
        report = _report()
        context.route("**/v1/judges", lambda route: route.fulfill(json=report))
        for path, wanted in ((LIVE, ".now:visible"), (JUDGES, "#judges .tile, #usage .scroll")):
            opened = Opened(context, f"{served.url}{path}")
            opened.page.locator(wanted).first.wait_for()
            check_accessible(opened, width)
            assert opened.complaints == []


def _evaluation(profile: str, value: float | None = 0.9) -> Any:
    figure = None if value is None else {"value": value, "low": -0.12, "high": 1.0, "rows": 120}
    names = ("agreement", "f1", "kappa", "self_consistency", "length_bias", "position_bias", "injection_rate")
    rows = {"rows": 120, "judged": 118, "not_judged": {"judge_unparseable": 2}, "mode": "pairwise", "at": 1.7e9}
    use = (
        {"tokens": 812.5, "cost": 0.00012, "seconds": 1.5} if value else {"tokens": None, "cost": None, "seconds": None}
    )
    return {"profile": profile, **rows, **use, **dict.fromkeys(names, figure)}


def _report() -> Any:
    """A report with every state of an endpoint."""
    can = {"schema": True, "logprobs": None, "several": False, "refused": ["seed"]}
    numbers = {"in_flight": 3, "limit": 8, "max_limit": 128, "calls": 9, "answered": 7, "ejections": 1}
    tokens = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "cost": 0.5,
        "mean_latency_s": 1.25,
        "rpm": None,
        "tpm": 9000,
    }
    canaries = [{"profile": "reference", "asked": 27, "answered": 27, "passed": 20, "missed": ["order"], "at": 1.7e9}]
    common = {**numbers, **tokens, "failures": {"timeout": 2}, "can": can, "canaries": canaries, "pools": ["judges"]}
    address = "http://" + "a-very-long-name-of-a-host." * 6 + "example:8000/v1"
    states = ("healthy", "unprobed", "ejected", "trial", "disabled", "held")
    endpoints = [
        {
            **common,
            "name": f"e-{state}",
            "model": "m",
            "address": address,
            "state": state,
            "why": "timeout",
            "back_in_s": 3.2,
        }
        for state in states
    ]
    pool = {"name": "judges", "members": ["one"], "fallback": None, "profiles": ["p"], "calls": 9, "retries": 1}
    return {
        "configured": True,
        "evaluations": [_evaluation("judge-of-all-answers" * 4), _evaluation("pair", None)],
        "endpoints": endpoints,
        "pools": [{**pool, "failures": {}, "failovers": 0, "hedges": 0}],
        "waiting_calls": 2,
        "votes": {"asked": 3, "cached": 4},
        "canaries": {"every_s": 600, "min_pass_rate": 0.9, "eject": True},
    }
