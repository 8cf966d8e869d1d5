"""No web page uses a service that asks for no key: pages of other origins, and pages whose name was made to point here."""

import itertools
import json
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, Route
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from service.doors.http.app import _PATHS
from tests.certificates import Authority
from tests.conftest import Serve, Served
from tests.tables import table
from tests.waiting import PATIENCE_S

ITEM = {"verifier": "exact_match", "response": "a", "reference": "a"}
SCORE = json.dumps({"items": [ITEM]})
PROGRAM = json.dumps({"code": "print(1)", "language": "python"})
KEY = "0123456789abcdef-pages"
JSON = {"Content-Type": "application/json"}
ELSEWHERE: list[dict[str, str]] = [
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": "http://localhost.evil.example:8080"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
    {"Host": "evil.example"},
    {"Host": "evil.example:8080"},
    {"Host": "127.0.0.1.evil.example"},
    {"Host": "localhost.evil.example"},
    {"Host": "10.1.2.3"},
    {"Host": "judge"},
    {"Host": "[::1"},
    {"Host": "a@127.0.0.1"},
]


@pytest.fixture
def ask(served: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=served.url, timeout=PATIENCE_S) as client:
        yield client


def origin(served: Served, scheme: str = "http", host: str = "127.0.0.1") -> str:
    return f"{scheme}://{host}:{served.url.rpartition(':')[2]}"


def test_no_door_answers_a_page_from_elsewhere(ask: httpx.Client) -> None:
    paths = sorted(_PATHS | {"/compat/openenv/reset", "/compat/openenv/state", "/console/live", "/nosuch"})
    answered = [
        (method, path, headers)
        for method, path, headers in itertools.product(
            ("GET", "POST"), paths, (ELSEWHERE[0], ELSEWHERE[4], ELSEWHERE[7])
        )
        if ask.request(
            method, path, headers={**JSON, **headers}, content=SCORE if method == "POST" else None
        ).status_code
        != 403
    ]
    assert answered == []


@table("headers", ELSEWHERE)
def test_a_page_from_elsewhere_is_told_why(ask: httpx.Client, headers: dict[str, str]) -> None:
    reply = ask.post("/v1/score", headers={**JSON, **headers}, content=SCORE)
    assert reply.status_code == 403
    assert reply.headers["content-type"] == "application/problem+json"
    assert "access-control-allow-origin" not in reply.headers
    advice = "REWARDLINE_ALLOWED_HOSTS" if "Host" in headers else "Authorization: Bearer"
    assert advice in reply.json()["detail"]


@table(
    "headers, status",
    [
        ({}, 200),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 200),  # as curl -d sends it
        (JSON, 200),
        ({**JSON, "Host": "localhost"}, 200),
        ({**JSON, "Host": "LOCALHOST.:99"}, 200),
        ({**JSON, "Host": "[::1]:8080"}, 200),
        ({**JSON, "Origin": "https://localhost", "Host": "localhost"}, 200),  # a proxy has ended TLS
        ({**JSON, "Origin": "http://localhost", "Host": "localhost:80", "Sec-Fetch-Site": "same-origin"}, 200),
        ({**JSON, "Sec-Fetch-Site": "none"}, 200),
        ({"Origin": "http://localhost", "Host": "localhost"}, 415),
        ({"Sec-Fetch-Site": "same-origin", "Content-Type": "text/plain"}, 415),
        ({"Sec-Fetch-Site": "same-origin", "Content-Type": "application/x-www-form-urlencoded"}, 415),
    ],
)
def test_callers_that_are_no_pages_and_our_own_pages_are_served(
    ask: httpx.Client, headers: dict[str, str], status: int
) -> None:
    assert ask.post("/v1/score", headers=headers, content=SCORE).status_code == status


def test_a_request_without_a_host_is_served(served: Served) -> None:
    """As balancers ask by HTTP/1.0."""
    address = served.url.removeprefix("http://").partition(":")
    with socket.create_connection((address[0], int(address[2]))) as connection:
        connection.sendall(b"GET /readyz HTTP/1.0\r\n\r\n")
        assert connection.recv(100).split()[1] == b"200"


def test_others_may_link_to_a_page_and_to_nothing_else(ask: httpx.Client) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    statuses = {
        path: ask.get(path, headers=headers).status_code
        for path in ("/", "/console/live", "/docs", "/v1/log", "/metrics")
    }
    assert statuses == {"/": 200, "/console/live": 200, "/docs": 200, "/v1/log": 403, "/metrics": 403}
    assert ask.get("/", headers={**headers, "Host": "evil.example"}).status_code == 403


def refused(url: str, path: str = "/compat/openenv/ws", **headers: str) -> int:
    try:
        with connect(f"{url.replace('http', 'ws', 1)}{path}", additional_headers=headers, proxy=None):
            return 101
    except InvalidStatus as error:
        return error.response.status_code


def test_a_websocket_checks_host_and_origin(served: Served) -> None:
    for headers in ELSEWHERE:
        if "Host" not in headers:  # the client sends its own
            assert refused(served.url, **headers) == 403, headers
    assert refused(served.url) == 101
    assert refused(served.url, Origin=origin(served)) == 101
    assert refused(served.url, "/compat/openenv/nosuch", Origin="http://evil.example") == 403
    with pytest.raises(InvalidStatus) as caught:
        connect(
            f"{served.url.replace('http', 'ws', 1)}/compat/openenv/ws", origin=Origin("http://evil.example"), proxy=None
        )
    assert b"not a page of this service" in (caught.value.response.body or b"")


def test_keys_make_names_free_and_stop_pages_by_themselves(serve: Serve) -> None:
    keyed = serve(api_keys=f"trainer={KEY}")
    bearer = {**JSON, "Authorization": f"Bearer {KEY}"}
    for more, status in (({}, 200), ({"Host": "rewardline.training.svc.cluster.local:8080"}, 200), (ELSEWHERE[0], 200)):
        reply = httpx.post(f"{keyed.url}/v1/score", headers=bearer | more, content=SCORE, timeout=PATIENCE_S)
        assert reply.status_code == status
    # The browser remembers passwords of URLs, and sends them along.
    basic = httpx.BasicAuth("any", KEY)
    url = f"{keyed.url}/v1/score"
    assert httpx.post(url, headers=JSON, content=SCORE, auth=basic, timeout=PATIENCE_S).status_code == 200
    assert (
        httpx.post(url, headers=JSON | ELSEWHERE[0], content=SCORE, auth=basic, timeout=PATIENCE_S).status_code == 403
    )


@pytest.mark.browser
def test_a_service_open_to_others_has_more_names(serve: Serve) -> None:
    """Trainers call it by addresses, by names of Compose and of Slurm, and by what the setting names."""
    opened = serve(host="0.0.0.0", allow_open="1", allowed_hosts="judge.example, *.lab.example")
    url = f"http://127.0.0.1:{opened.url.rpartition(':')[2]}"
    expected = {
        **dict.fromkeys(("10.1.2.3:8080", "[fd00::1]", "node17:8080", "rewardline", "judge.example"), 200),
        **dict.fromkeys(("rewardline.training.svc", "rewardline.training.svc.cluster.local:8080"), 200),
        **dict.fromkeys(("host.docker.internal", "node17.lab.example", "localhost"), 200),
        **dict.fromkeys(("evil.example", "lab.example", "judge.example.evil.example", "a.judge.example"), 403),
        **dict.fromkeys(("local.evil.example", "evillab.example"), 403),
    }
    assert {
        host: httpx.post(
            f"{url}/v1/score", headers={**JSON, "Host": host}, content=SCORE, timeout=PATIENCE_S
        ).status_code
        for host in expected
    } == expected


@pytest.mark.browser
def test_operators_ports_are_guarded_too(serve: Serve) -> None:
    """They ask for no key even where the doors do."""
    ops = serve(api_keys=f"trainer={KEY}", ops_port="0", drain_timeout_s="0.1").ops
    for headers in ELSEWHERE:
        for path in ("/metrics", "/drain", "/readyz"):
            assert httpx.get(f"{ops}{path}", headers=headers, timeout=PATIENCE_S).status_code == 403, (path, headers)
    assert httpx.get(f"{ops}/readyz", timeout=PATIENCE_S).status_code == 200


def test_a_certificate_that_the_browser_shows_lets_no_page_in(serve: Serve, tmp_path: Path) -> None:
    authority = Authority(tmp_path, "authority")
    cert, key = authority.issue("server")
    context = ssl.create_default_context(cafile=str(authority.ca))
    context.load_cert_chain(*authority.issue("trainer"))
    secured = serve(
        tls_cert=str(cert), tls_key=str(key), tls_client_ca=str(authority.ca), tls_client_tenants="1", ops_port="0"
    )
    for headers, status in (({}, 200), (ELSEWHERE[0], 403), (ELSEWHERE[4], 403)):
        with httpx.Client(verify=context, timeout=PATIENCE_S) as client:
            assert client.post(f"{secured.url}/v1/score", headers=JSON | headers, content=SCORE).status_code == status


# --- a real browser

EVERY_WAY = """
async ([url, bodies]) => {
  const answers = {};
  const tell = async (name, work) => {
    try { answers[name] = await work(); } catch (error) { answers[name] = `${error.name}`; }
  };
  const types = [undefined, "text/plain", "application/x-www-form-urlencoded", "application/json"];
  for (const [path, body] of Object.entries(bodies)) {
    for (const type of types) {
      const headers = type ? { "Content-Type": type } : {};
      for (const mode of ["no-cors", "cors"]) {
        const sent = { method: "POST", mode, body: new Blob([body]), headers, credentials: "include" };
        await tell(`fetch ${mode} ${type} ${path}`, async () => {
          const reply = await fetch(url + path, sent);
          return [reply.status, await reply.text()];
        });
      }
    }
    await tell(`beacon ${path}`, async () => navigator.sendBeacon(url + path, body));
    await tell(`form ${path}`, () => new Promise((resolve) => {
      const frame = Object.assign(document.createElement("iframe"), { name: "sink", onload: () => resolve("loaded") });
      const form = Object.assign(document.createElement("form"), {
        method: "POST", action: url + path, enctype: "text/plain", target: "sink",
      });
      const at = body.indexOf("=");
      form.append(Object.assign(document.createElement("input"), { name: body.slice(0, at), value: body.slice(at + 1) }));
      document.body.append(frame, form);
      form.submit();
    }));
  }
  for (const path of ["/v1/log", "/metrics", "/v1/verifiers", "/readyz"]) {
    await tell(`read ${path}`, async () => {
      const reply = await fetch(url + path);
      return [reply.status, await reply.text()];
    });
  }
  await tell("websocket", () => new Promise((resolve) => {
    const socket = new WebSocket(url.replace("http", "ws") + "/compat/openenv/ws");
    socket.onopen = () => socket.send(JSON.stringify({
      type: "reset", data: { verifier: "exact_match", reference: "a" },
    }));
    socket.onmessage = (event) => resolve(event.data);
    socket.onerror = () => resolve("refused");
  }));
  return answers;
}
"""
"""Everything that a page can try, with bodies that hold `=`, as a form in plain text has one."""
BODIES = {
    "/v1/score": json.dumps({"items": [{**ITEM, "id": "="}]}),
    "/run_code": json.dumps({"code": "a=1", "language": "python"}),
}
READ = ("rewardline_", "exact_match", "results", "observation")
"""Words of answers."""


def attacked(served: Served, page: Page, url: str) -> dict[str, Any]:
    """What each try of the page brought it. Nothing was judged or run."""
    answers: dict[str, Any] = page.evaluate(EVERY_WAY, [url, BODIES])
    assert len(answers) == 2 * (4 * 2 + 2) + 5
    counts = httpx.get(f"{served.url}/metrics", timeout=PATIENCE_S).text.splitlines()
    done = [line for line in counts if line.startswith(("rewardline_items_total{", "rewardline_run_code_total{"))]
    assert done == []
    return answers


def read(answers: dict[str, Any]) -> dict[str, Any]:
    """Those that brought words of an answer."""
    return {name: answer for name, answer in answers.items() if any(word in str(answer) for word in READ)}


def page_at(context: BrowserContext, url: str) -> Page:
    """A page of an attacker, at any URL."""

    def answer(route: Route) -> None:
        route.fulfill(status=200, content_type="text/html", body="<!doctype html><title>Free prizes</title>")

    page = context.new_page()
    page.route(url, answer)
    page.goto(url)
    return page


@pytest.mark.browser
def test_a_page_of_another_origin_reaches_nothing(serve: Serve, context: BrowserContext) -> None:
    served = serve()
    answers = attacked(served, page_at(context, "http://prizes.example/"), served.url)
    assert read(answers) == {}
    assert answers["websocket"] == "refused"
    assert {answer for name, answer in answers.items() if name.startswith(("fetch cors", "read"))} == {"TypeError"}


@pytest.mark.browser
def test_a_page_beside_the_service_reaches_nothing(serve: Serve, context: BrowserContext) -> None:
    """To the browser it is of the same site: only the port differs."""
    served = serve()
    answers = attacked(served, page_at(context, "http://127.0.0.1:9/"), served.url)
    assert read(answers) == {}
    assert answers["websocket"] == "refused"


@pytest.mark.browser
def test_a_page_whose_name_leads_here_reaches_nothing(serve: Serve, context: BrowserContext) -> None:
    """DNS rebinding: to the browser the service is of the page's own origin, so the page may read."""
    served = serve()
    url = origin(served, host="rebound.prizes.example")
    answers = attacked(served, page_at(context, f"{url}/prize.html"), url)
    assert read(answers) == {}
    assert answers["websocket"] == "refused"
    statuses = {answer[0] for answer in answers.values() if isinstance(answer, list)}
    assert statuses == {403}, answers
    assert answers["read /v1/verifiers"][0] == 403


@pytest.mark.browser
def test_the_own_page_goes_on_to_work(served: Served, context: BrowserContext) -> None:
    for host in ("127.0.0.1", "localhost"):
        page = context.new_page()
        page.goto(f"{origin(served, host=host)}/console/live")
        reply = page.evaluate(
            "async (body) => (await fetch('/v1/score', {method: 'POST', body, headers: {'Content-Type': 'application/json'}})).status",
            SCORE,
        )
        assert reply == 200


TWICE = ("Host", "Origin", "Sec-Fetch-Site", "X-Item-Count")


def test_a_header_that_decides_something_is_sent_once(serve: Serve) -> None:
    address = urlsplit(serve().url)
    answers = []
    for name in TWICE:
        with socket.create_connection((address.hostname, address.port), timeout=PATIENCE_S) as caller:
            first = b"" if name == "Host" else b"Host: localhost\r\n"
            twice = b"%s: localhost\r\n%s: 127.0.0.1\r\n" % (name.encode(), name.encode())
            caller.sendall(b"GET /v1/verifiers HTTP/1.1\r\nConnection: close\r\n" + first + twice + b"\r\n")
            answers.append(caller.makefile("rb").read())
    for name, answer in zip(TWICE, answers, strict=True):
        assert answer.startswith(b"HTTP/1.1 400"), name
        assert f"the header {name} 2 times".encode() in answer or b"Duplicate" in answer, answer
