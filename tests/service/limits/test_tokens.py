"""Tokens of an issuer: what counts, when its keys are read, and whose things a token finds."""

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from rewardline import Client, Unauthorized

from service.errors import StateUnavailable, Unauthenticated
from service.limits.keys import ANONYMOUS, Caller, Keys, Scope
from service.limits.tokens import AGAIN_S, OLD_S, Tokens
from service.settings import Settings, SettingsError, read
from tests.conftest import Serve
from tests.tables import table
from tests.waiting import PATIENCE_S

JSON = dict[str, Any]
ISSUER, AUDIENCE = "https://issuer.test", "rewardline"
_DAY_S = 86_400
"""Far more than a run of the tests takes."""
SECRETS: dict[str, Any] = {
    "RS256": rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "ES256": ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate(),
}
STRANGER = ec.generate_private_key(ec.SECP256R1())


def jwks(*names: str) -> JSON:
    """The public keys of these algorithms, named like them."""
    makers = {"RS256": jwt.algorithms.RSAAlgorithm, "ES256": jwt.algorithms.ECAlgorithm}
    keys = []
    for name in names:
        maker: Any = makers.get(name, jwt.algorithms.OKPAlgorithm)
        keys.append({**maker.to_jwk(SECRETS[name].public_key(), as_dict=True), "kid": name, "use": "sig"})
    return {"keys": keys}


def token(name: str = "ES256", key: Any = None, headers: JSON | None = None, **claims: Any) -> str:
    """A good token, but for what is given. A claim of None is left out."""
    given = {"iss": ISSUER, "aud": AUDIENCE, "sub": "red", "exp": time.time() + _DAY_S} | claims
    content = {claim: value for claim, value in given.items() if value is not None}
    head = {"kid": name} | (headers or {})
    return jwt.encode(content, key or SECRETS[name], name, {part: value for part, value in head.items() if value})


def settings(place: object, **more: Any) -> Settings:
    return Settings(oidc_issuer=ISSUER, oidc_audience=AUDIENCE, oidc_jwks=str(place), **more)


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps(jwks(*SECRETS)))
    return Tokens(settings(path))


@pytest.mark.parametrize("name", list(SECRETS))
async def test_a_token_of_each_algorithm_names_its_tenant(tokens: Tokens, name: str) -> None:
    caller = await tokens.caller_of(token(name, scope="openid score admin"))
    assert caller == Caller("oidc", frozenset({Scope.SCORE, Scope.ADMIN}), tenant="oidc:red")


@pytest.mark.parametrize(
    ("scope", "scopes"), [(None, {Scope.SCORE}), ("openid", set()), (["sandbox"], {Scope.SANDBOX}), (7, set())]
)
async def test_a_claim_names_the_scopes(tokens: Tokens, scope: Any, scopes: set[Scope]) -> None:
    assert (await tokens.caller_of(token(scope=scope))).scopes == scopes


def _unsigned() -> str:
    head, body, _ = token().split(".")
    none = base64.urlsafe_b64encode(b'{"alg":"none","kid":"ES256"}').rstrip(b"=").decode()
    assert head
    return f"{none}.{body}."


def _signed_with_what_is_public(name: str) -> str:
    """The old trick: a public key as the secret of an HMAC."""
    public = SECRETS[name].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    head, body = (
        base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()
        for part in (
            {"alg": "HS256", "kid": name},
            {"iss": ISSUER, "aud": AUDIENCE, "sub": "red", "exp": time.time() + _DAY_S},
        )
    )
    digest = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(f"{head}.{body}".encode(), public)
    return f"{head}.{body}.{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"


BAD: dict[str, str] = {
    "another audience": token(aud="other"),
    "another issuer": token(iss="https://evil.test"),
    "over": token(exp=time.time() - _DAY_S),
    "not yet": token(nbf=time.time() + _DAY_S),
    "for ever": token(exp=None),
    "nobody": token(sub=None),
    "no text": token(sub=["red"]),
    "empty": token(sub=""),
    "a line": token(sub="red\nblue"),
    "long": token(sub="r" * 200),
    "a stranger's key": token(key=STRANGER),
    "an unknown key": token(headers={"kid": "nosuch"}),
    "which key": token(headers={"kid": None}),
    "the key of another algorithm": token(headers={"kid": "RS256"}),
    "another hash": jwt.encode({"sub": "red"}, SECRETS["RS256"], "RS512", {"kid": "RS256"}),
    "unsigned": _unsigned(),
    "HMAC": _signed_with_what_is_public("RS256"),
    "no token": "a.b.c",
    "empty parts": "..",
    "huge": f"{'a' * 20_000}.b.c",
}


@pytest.mark.parametrize("why", BAD)
async def test_what_does_not_count(tokens: Tokens, why: str) -> None:
    with pytest.raises(Unauthenticated):
        await tokens.caller_of(BAD[why])


async def test_a_key_for_encryption_signs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps({"keys": [{**jwks("ES256")["keys"][0], "use": "enc"}]}))
    with pytest.raises(Unauthenticated):
        await Tokens(settings(path)).caller_of(token())


class Issuing:
    """An issuer's keys over HTTP, and how often they were asked for."""

    def __init__(self) -> None:
        self.content: JSON = jwks("ES256")
        self.status = 200
        self.asked = 0
        issuing = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuing.asked += 1
                body = json.dumps(issuing.content).encode()
                self.send_response(issuing.status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/jwks"


@pytest.fixture
def issuing() -> Iterator[Issuing]:
    made = Issuing()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


async def test_keys_are_read_again_for_a_new_name_but_not_at_every_wish(issuing: Issuing) -> None:
    now_s = 1000.0
    tokens = Tokens(settings(issuing.url), clock=lambda: now_s)
    for _ in range(3):
        await tokens.caller_of(token())
    assert issuing.asked == 1
    issuing.content = jwks("ES256", "EdDSA")
    for _ in range(50):
        with pytest.raises(Unauthenticated):
            await tokens.caller_of(token("EdDSA"))
    assert issuing.asked == 1
    now_s += AGAIN_S
    await tokens.caller_of(token("EdDSA"))
    assert issuing.asked == 2

    # A key that is taken back does not count for longer than keys are kept.
    issuing.content = jwks("EdDSA")
    await tokens.caller_of(token("ES256"))
    now_s += OLD_S + 1
    with pytest.raises(Unauthenticated):
        await tokens.caller_of(token("ES256"))
    assert issuing.asked == 3


async def test_without_the_issuer_known_keys_go_on_and_nobody_is_called_a_stranger(issuing: Issuing) -> None:
    now_s = 1000.0
    tokens = Tokens(settings(issuing.url), clock=lambda: now_s)
    issuing.status = 500
    with pytest.raises(StateUnavailable):
        await tokens.caller_of(token())
    issuing.status = 200
    now_s += AGAIN_S
    await tokens.caller_of(token())
    issuing.status = 302
    now_s += OLD_S + 1
    assert (await tokens.caller_of(token())).tenant == "oidc:red"
    with pytest.raises(StateUnavailable):
        await tokens.caller_of(token("EdDSA"))


async def test_keys_go_on_beside_tokens(tokens: Tokens) -> None:
    secret = "a.key.with-two-dots"
    known = Keys({hashlib.sha256(secret.encode()).digest(): Caller("one")}, issuer=tokens)
    assert (await known.find(f"Bearer {secret}")).name == "one"
    assert (await known.find(f"Bearer {token()}")).tenant == "oidc:red"
    for wrong in (None, "Bearer x", "Bearer a.b.c"):
        with pytest.raises(Unauthenticated):
            await known.find(wrong)
    assert await Keys({}).find(None) is ANONYMOUS
    with pytest.raises(Unauthenticated):
        await Keys({}, issuer=tokens).find(None)


@table(
    "given",
    [
        {"oidc_issuer": ISSUER},
        {"oidc_jwks": "/keys", "oidc_audience": "a"},
        {"oidc_issuer": ISSUER, "oidc_audience": "a", "oidc_jwks": "http://issuer.test/jwks"},
    ],
)
def test_half_an_issuer_is_none(given: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="oidc_jwks"):
        read(None, given)


def test_both_doors_take_tokens(serve: Serve, issuing: Issuing) -> None:
    served = serve(oidc_issuer=ISSUER, oidc_audience=AUDIENCE, oidc_jwks=issuing.url, workers="1")
    item = {"verifier": "exact_match", "response": "a", "reference": "a"}
    creation = {"verifier": "exact_match", "reference": "a", "instance_id": "one"}

    def call(method: str, path: str, given: str, body: Any = None) -> int:
        headers = {"Authorization": f"Bearer {given}"}
        url = f"{served.url}{path}"
        return httpx.request(method, url, json=body, headers=headers, timeout=PATIENCE_S).status_code

    assert call("POST", "/v1/interactions", token(), creation) == 201
    assert call("GET", "/v1/interactions/one", token()) == 200
    assert call("GET", "/v1/interactions/one", token(sub="blue")) == 404
    assert call("GET", "/v1/interactions/one", BAD["over"]) == 401
    assert call("GET", "/metrics", token()) == 403
    with Client(f"grpc://{served.grpc}", api_key=token()) as client:
        assert client.score_one(item).score == 1.0
    with Client(f"grpc://{served.grpc}", api_key=BAD["HMAC"]) as client, pytest.raises(Unauthorized):
        client.score_one(item)
    log = served.log.read_text()
    assert '"tenant":"oidc:red"' in log
    assert token()[:30] not in log
