"""Reads the file of judge models: endpoints, pools of endpoints, and profiles that define what is asked of which pool.

    endpoints:
      one: {base_url: "http://10.0.0.5:8000/v1", model: judge-7b}
    pools:
      judges: {members: [one]}
    profiles:
      equivalence: {mode: reference, pool: judges}

Keys are in environment variables that the file names. A mistake in the file stops the start.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, Self

import msgspec
import yaml
from pydantic import Field, ValidationError, model_validator

from verifiers.judge.endpoints import EndpointConfig, PoolConfig
from verifiers.judge.endpoints.reward_servers import SERVERS
from verifiers.judge.profiles import PROFILE_NAME, Mode, Part, Profile
from verifiers.judge.rewards.profiles import RewardModel
from verifiers.mistakes import sentences

_Chosen = Annotated[str, Field(pattern=PROFILE_NAME)]


class BadJudges(Exception):
    """The file of judge models has mistakes, or refers to something that does not exist; the message lists them."""


class Proxy(Part):
    """`POST /v1/chat/completions` for callers' own prompts."""

    models: dict[str, str] = Field(default_factory=dict)
    """Names that callers may give as `model`, with the pool of each; the names of pools are valid, too."""
    default_pool: str | None = None
    """The pool for any other name; None: such a call is refused."""
    cache: bool = True
    """Whether replies to deterministic calls (temperature 0, one choice, no stream) are kept."""
    deadline_s: Annotated[float, Field(gt=0)] = 120.0


class Canaries(Part):
    """Canary items, whose verdict is known, are sent to each endpoint at regular intervals."""

    every_s: Annotated[float, Field(gt=0)] | None = None
    """The interval between rounds; None: never."""
    min_pass_rate: Annotated[float, Field(ge=0, le=1)] = 0.9
    eject: bool = False
    """Whether an endpoint below that rate gets no items until it passes again; otherwise it is only reported."""


class JudgeConfig(Part):
    """The whole file."""

    endpoints: Annotated[dict[str, EndpointConfig], Field(min_length=1)]
    pools: Annotated[dict[str, PoolConfig], Field(min_length=1)]
    profiles: dict[_Chosen, Profile] = Field(default_factory=dict)
    reward_models: dict[_Chosen, RewardModel] = Field(default_factory=dict)
    """The ways to score by reward models; the first one is that of items that name none."""
    defaults: dict[Mode, str] = Field(default_factory=dict)
    """The profile of items that name none, by mode; by default the first profile of the mode."""
    prompts_dir: Path | None = None
    """A folder with further prompts beside those that ship."""
    max_items_in_flight: Annotated[int, Field(gt=0, le=100_000)] = 512
    """The number of items that are asked about at once; others wait in the queue."""
    answers_memory_mb: Annotated[float, Field(ge=0)] = 128
    """Memory for the answers of models."""
    proxy: Proxy = Proxy()
    canaries: Canaries = Canaries()

    @model_validator(mode="after")
    def _check_pools(self) -> Self:
        for name, pool in self.pools.items():
            _among(self.endpoints, pool.members, f"pools.{name}.members")
            if pool.fallback is not None:
                _among(self.pools, [pool.fallback], f"pools.{name}.fallback")
        for name in self.pools:
            if self._falls_back_to_itself(name):
                raise ValueError(f"pools.{name}.fallback: it leads back to {name}; name another pool, or none")
        for name in self.pools:
            if len({self.endpoints[member].gives_rewards for member in self.reach_of(name)}) > 1:
                raise ValueError(f"pools.{name}: some members give rewards and others text; make two pools of them")
        return self

    @model_validator(mode="after")
    def _check_members(self) -> Self:
        """No pool counts one server as two, or has a limit of cost that calls without a price get around."""
        for name, pool in self.pools.items():
            members = [(member_name, self.endpoints[member_name]) for member_name in pool.members]
            unpriced = [member_name for member_name, member in members if member.price is None]
            if unpriced and pool.spend is not None and pool.spend.max_cost is not None:
                raise ValueError(f"pools.{name}.spend.max_cost: endpoint {unpriced[0]} has no price")
            servers = [(member.base_url, member.model, *member.env_names) for _, member in members]
            twice = next((at for at, server in enumerate(servers) if server in servers[:at]), None)
            if twice is not None:
                raise ValueError(f"pools.{name}.members: {pool.members[twice]} is the same server as another member")
        return self

    @model_validator(mode="after")
    def _check_profiles(self) -> Self:
        _check_all(partial(self._check_profile, name, profile) for name, profile in self.profiles.items())
        for mode, chosen in self.defaults.items():
            _among(self.profiles, [chosen], f"defaults.{mode}")
            if self.profiles[chosen].mode != mode:
                raise ValueError(f"defaults.{mode}: profile {chosen} is of mode {self.profiles[chosen].mode}")
        if self.canaries.every_s is not None and all(profile.mode != "reference" for profile in self.profiles.values()):
            raise ValueError("canaries.every_s: canaries ask profiles of mode reference, and there is none")
        if self.prompts_dir is not None and not self.prompts_dir.is_dir():
            raise ValueError(f"prompts_dir: {self.prompts_dir} is not a folder")
        text_pools = dict.fromkeys(self.text_pools)
        _among(text_pools, self.proxy.models.values(), "proxy.models")
        for alias, pool in self.proxy.models.items():
            if alias in self.pools and alias != pool:
                raise ValueError(f"proxy.models: {alias} is a pool; give {pool} another name")
        if self.proxy.default_pool is not None:
            _among(text_pools, [self.proxy.default_pool], "proxy.default_pool")
        return self

    def _check_profile(self, name: str, profile: Profile) -> None:
        _among(self.pools, [profile.pool], f"profiles.{name}.pool")
        for endpoint in self.reach_of(profile.pool):
            if self.endpoints[endpoint].protocol != "chat":
                raise ValueError(f"profiles.{name}.pool: endpoint {endpoint} writes no text, which prompts ask for")
            _check_room(f"profiles.{name}", profile.sampling.max_tokens, endpoint, self.endpoints[endpoint])
        if profile.cascade is not None:
            _among(self.profiles, [profile.cascade.profile], f"profiles.{name}.cascade.profile")
            first = self.profiles[profile.cascade.profile]
            if first.mode != profile.mode or first.score_source != "expected":
                raise ValueError(
                    f"profiles.{name}.cascade.profile: {profile.cascade.profile} must be of mode {profile.mode}, with "
                    "score_source: expected"
                )

    @model_validator(mode="after")
    def _check_reward_models(self) -> Self:
        _check_all(partial(self._check_reward_model, name, model) for name, model in self.reward_models.items())
        return self

    def _check_reward_model(self, name: str, model: RewardModel) -> None:
        _among(self.pools, model.pools, f"reward_models.{name}.pools")
        for endpoint in sorted({each for pool in model.pools for each in self.reach_of(pool)}):
            self._check_server(name, endpoint, model)

    def _check_server(self, name: str, endpoint: str, model: RewardModel) -> None:
        protocol = self.endpoints[endpoint].protocol
        if protocol not in SERVERS:
            raise ValueError(
                f"reward_models.{name}.pools: endpoint {endpoint} has protocol {protocol}, which gives no rewards; "
                f"there are {sorted(SERVERS)}"
            )
        if model.input not in SERVERS[protocol].forms:
            forms = " or ".join(sorted(SERVERS[protocol].forms))
            raise ValueError(
                f"reward_models.{name}.input: endpoint {endpoint} ({protocol}) takes {forms}, not {model.input}"
            )

    @cached_property
    def text_pools(self) -> list[str]:
        """The pools whose endpoints answer with text."""
        return [name for name in self.pools if not any(self.endpoints[m].gives_rewards for m in self.reach_of(name))]

    @property
    def key_names(self) -> list[str]:
        """Environment variables that hold keys."""
        return sorted({name for endpoint in self.endpoints.values() for name in endpoint.env_names})

    def default_profile(self, mode: Mode) -> str | None:
        if mode in self.defaults:
            return self.defaults[mode]
        return next((name for name, profile in self.profiles.items() if profile.mode == mode), None)

    def models_of(self, pool: str) -> list[tuple[str, str]]:
        """Model and revision of each endpoint that may answer for a pool, without addresses and keys."""
        models = set()
        for name in self.reach_of(pool):
            endpoint = self.endpoints[name]
            models.add((endpoint.model, f"{endpoint.model_revision} {endpoint.protocol} {endpoint.extra_body}"))
        return sorted(models)

    def reach_of(self, pool: str) -> set[str]:
        """The endpoints of a pool and of its fallback pools."""
        members: set[str] = set()
        visited: set[str] = set()
        at: str | None = pool
        while at is not None and at not in visited:
            visited.add(at)
            members |= set(self.pools[at].members)
            at = self.pools[at].fallback
        return members

    def _falls_back_to_itself(self, pool: str) -> bool:
        visited: set[str] = set()
        at = self.pools[pool].fallback
        while at is not None and at not in visited:
            if at == pool:
                return True
            visited.add(at)
            at = self.pools[at].fallback
        return False

    def fingerprint(self, prompt_hashes: Mapping[str, str]) -> str:
        """A fingerprint of all that a verdict depends on: models, prompts, profiles."""
        ingredients = {
            "profiles": {name: profile.model_dump(mode="json") for name, profile in self.profiles.items()},
            "defaults": self.defaults,
            "models": {name: self.models_of(profile.pool) for name, profile in self.profiles.items()},
            "reward_models": {name: model.model_dump(mode="json") for name, model in self.reward_models.items()},
            "servers": {pool: self.models_of(pool) for model in self.reward_models.values() for pool in model.pools},
            "prompts": dict(prompt_hashes),
        }
        return hashlib.sha256(msgspec.json.encode(ingredients, order="deterministic")).hexdigest()


class _Loader(yaml.SafeLoader):
    """A safe YAML loader. A name that occurs twice is a mistake."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise yaml.constructor.ConstructorError(None, None, f"{twice!r} occurs twice; remove one", node.start_mark)
        return super().construct_mapping(node, deep)


def load(path: Path) -> JudgeConfig:
    """The configuration in a file.

    Raises:
        BadJudges: the message lists every mistake.
    """
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)  # noqa: S506 - it is a safe loader
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadJudges(f"cannot read {path}: {error}") from error
    return read(content, str(path))


def read(content: Any, origin: str) -> JudgeConfig:
    """The configuration from the content of a file.

    Raises:
        BadJudges: the message lists every mistake.
    """
    if not isinstance(content, dict):
        raise BadJudges(f"{origin}: expected a mapping with endpoints, pools and profiles")
    try:
        return JudgeConfig.model_validate(content)
    except ValidationError as error:
        raise BadJudges(f"{origin}: " + "; ".join(sentences(error, content))) from error


def keys_from(environ: Mapping[str, str], names: list[str]) -> dict[str, str]:
    """The keys by the names of their variables.

    Raises:
        BadJudges: a variable is not set.
    """
    missing = [name for name in names if not environ.get(name)]
    if missing:
        raise BadJudges(f"the environment has no {', '.join(missing)}, which the file of judge models names")
    return {name: environ[name] for name in names}


def _check_room(where: str, max_tokens: int, name: str, endpoint: EndpointConfig) -> None:
    """Check that one reply fits the limits of an endpoint: a call that never fits waits until its deadline."""
    spend = endpoint.spend.max_tokens if endpoint.spend is not None else None
    for limit, limit_value in (
        ("tpm", endpoint.tpm),
        ("spend.max_tokens", spend),
        ("context_tokens", endpoint.context_tokens),
    ):
        if limit_value is not None and limit_value <= max_tokens:
            raise ValueError(
                f"{where}.sampling.max_tokens: {max_tokens} do not fit endpoints.{name}.{limit}, which is {limit_value:g}"
            )


def _check_all(checks: Iterable[Callable[[], None]]) -> None:
    """Make every check.

    Raises:
        ValueError: the messages of all that failed.
    """
    mistakes = []
    for check in checks:
        try:
            check()
        except ValueError as error:
            mistakes.append(str(error))
    if mistakes:
        raise ValueError("; ".join(mistakes))


def _among(entries: Mapping[str, Any], names: Any, where: str) -> None:
    for name in names:
        if name not in entries:
            raise ValueError(f"{where}: no {name!r}; there are {sorted(entries)}")
