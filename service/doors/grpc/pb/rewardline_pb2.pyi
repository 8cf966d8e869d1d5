from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CacheMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CACHE_MODE_UNSPECIFIED: _ClassVar[CacheMode]
    CACHE_MODE_USE: _ClassVar[CacheMode]
    CACHE_MODE_REFRESH: _ClassVar[CacheMode]
    CACHE_MODE_OFF: _ClassVar[CacheMode]

class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STATUS_UNSPECIFIED: _ClassVar[Status]
    STATUS_OK: _ClassVar[Status]
    STATUS_INVALID: _ClassVar[Status]
    STATUS_FAILED: _ClassVar[Status]
CACHE_MODE_UNSPECIFIED: CacheMode
CACHE_MODE_USE: CacheMode
CACHE_MODE_REFRESH: CacheMode
CACHE_MODE_OFF: CacheMode
STATUS_UNSPECIFIED: Status
STATUS_OK: Status
STATUS_INVALID: Status
STATUS_FAILED: Status

class Message(_message.Message):
    __slots__ = ("role", "content")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    role: str
    content: str
    def __init__(self, role: _Optional[str] = ..., content: _Optional[str] = ...) -> None: ...

class Messages(_message.Message):
    __slots__ = ("messages",)
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[Message]
    def __init__(self, messages: _Optional[_Iterable[_Union[Message, _Mapping]]] = ...) -> None: ...

class Item(_message.Message):
    __slots__ = ("id", "verifier", "response", "response_messages", "response_json", "prompt", "prompt_messages", "prompt_json", "reference_json", "reference_id", "params_json", "metadata_json", "recipe", "domain", "data_source", "tag", "cache", "explain", "checks_json", "row_json", "group_json")
    ID_FIELD_NUMBER: _ClassVar[int]
    VERIFIER_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_JSON_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    PROMPT_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    PROMPT_JSON_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_JSON_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_ID_FIELD_NUMBER: _ClassVar[int]
    PARAMS_JSON_FIELD_NUMBER: _ClassVar[int]
    METADATA_JSON_FIELD_NUMBER: _ClassVar[int]
    RECIPE_FIELD_NUMBER: _ClassVar[int]
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    DATA_SOURCE_FIELD_NUMBER: _ClassVar[int]
    TAG_FIELD_NUMBER: _ClassVar[int]
    CACHE_FIELD_NUMBER: _ClassVar[int]
    EXPLAIN_FIELD_NUMBER: _ClassVar[int]
    CHECKS_JSON_FIELD_NUMBER: _ClassVar[int]
    ROW_JSON_FIELD_NUMBER: _ClassVar[int]
    GROUP_JSON_FIELD_NUMBER: _ClassVar[int]
    id: str
    verifier: str
    response: str
    response_messages: Messages
    response_json: str
    prompt: str
    prompt_messages: Messages
    prompt_json: str
    reference_json: str
    reference_id: str
    params_json: str
    metadata_json: str
    recipe: str
    domain: str
    data_source: str
    tag: str
    cache: CacheMode
    explain: bool
    checks_json: str
    row_json: str
    group_json: str
    def __init__(self, id: _Optional[str] = ..., verifier: _Optional[str] = ..., response: _Optional[str] = ..., response_messages: _Optional[_Union[Messages, _Mapping]] = ..., response_json: _Optional[str] = ..., prompt: _Optional[str] = ..., prompt_messages: _Optional[_Union[Messages, _Mapping]] = ..., prompt_json: _Optional[str] = ..., reference_json: _Optional[str] = ..., reference_id: _Optional[str] = ..., params_json: _Optional[str] = ..., metadata_json: _Optional[str] = ..., recipe: _Optional[str] = ..., domain: _Optional[str] = ..., data_source: _Optional[str] = ..., tag: _Optional[str] = ..., cache: _Optional[_Union[CacheMode, str]] = ..., explain: bool = ..., checks_json: _Optional[str] = ..., row_json: _Optional[str] = ..., group_json: _Optional[str] = ...) -> None: ...

class ScoreRequest(_message.Message):
    __slots__ = ("items", "references_json", "deadline_s", "cache", "explain", "run_id")
    class ReferencesJsonEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    REFERENCES_JSON_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_S_FIELD_NUMBER: _ClassVar[int]
    CACHE_FIELD_NUMBER: _ClassVar[int]
    EXPLAIN_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[Item]
    references_json: _containers.ScalarMap[str, str]
    deadline_s: float
    cache: CacheMode
    explain: bool
    run_id: str
    def __init__(self, items: _Optional[_Iterable[_Union[Item, _Mapping]]] = ..., references_json: _Optional[_Mapping[str, str]] = ..., deadline_s: _Optional[float] = ..., cache: _Optional[_Union[CacheMode, str]] = ..., explain: bool = ..., run_id: _Optional[str] = ...) -> None: ...

class Result(_message.Message):
    __slots__ = ("id", "status", "score", "reward", "reason", "verifier", "version", "extracted", "detail_json", "cached", "elapsed_ms", "index", "checks_json", "recipe")
    ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    REWARD_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    VERIFIER_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    EXTRACTED_FIELD_NUMBER: _ClassVar[int]
    DETAIL_JSON_FIELD_NUMBER: _ClassVar[int]
    CACHED_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_MS_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    CHECKS_JSON_FIELD_NUMBER: _ClassVar[int]
    RECIPE_FIELD_NUMBER: _ClassVar[int]
    id: str
    status: Status
    score: float
    reward: float
    reason: str
    verifier: str
    version: str
    extracted: str
    detail_json: str
    cached: bool
    elapsed_ms: float
    index: int
    checks_json: str
    recipe: str
    def __init__(self, id: _Optional[str] = ..., status: _Optional[_Union[Status, str]] = ..., score: _Optional[float] = ..., reward: _Optional[float] = ..., reason: _Optional[str] = ..., verifier: _Optional[str] = ..., version: _Optional[str] = ..., extracted: _Optional[str] = ..., detail_json: _Optional[str] = ..., cached: bool = ..., elapsed_ms: _Optional[float] = ..., index: _Optional[int] = ..., checks_json: _Optional[str] = ..., recipe: _Optional[str] = ...) -> None: ...

class Summary(_message.Message):
    __slots__ = ("items", "ok", "invalid", "failed", "cached", "deduplicated", "elapsed_ms")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    OK_FIELD_NUMBER: _ClassVar[int]
    INVALID_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    CACHED_FIELD_NUMBER: _ClassVar[int]
    DEDUPLICATED_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_MS_FIELD_NUMBER: _ClassVar[int]
    items: int
    ok: int
    invalid: int
    failed: int
    cached: int
    deduplicated: int
    elapsed_ms: float
    def __init__(self, items: _Optional[int] = ..., ok: _Optional[int] = ..., invalid: _Optional[int] = ..., failed: _Optional[int] = ..., cached: _Optional[int] = ..., deduplicated: _Optional[int] = ..., elapsed_ms: _Optional[float] = ...) -> None: ...

class ScoreResponse(_message.Message):
    __slots__ = ("results", "summary")
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[Result]
    summary: Summary
    def __init__(self, results: _Optional[_Iterable[_Union[Result, _Mapping]]] = ..., summary: _Optional[_Union[Summary, _Mapping]] = ...) -> None: ...

class ScoreGroupsRequest(_message.Message):
    __slots__ = ("options_json", "groups_json")
    OPTIONS_JSON_FIELD_NUMBER: _ClassVar[int]
    GROUPS_JSON_FIELD_NUMBER: _ClassVar[int]
    options_json: str
    groups_json: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, options_json: _Optional[str] = ..., groups_json: _Optional[_Iterable[str]] = ...) -> None: ...

class ScoreGroupsResponse(_message.Message):
    __slots__ = ("groups_json", "summary_json")
    GROUPS_JSON_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_JSON_FIELD_NUMBER: _ClassVar[int]
    groups_json: _containers.RepeatedScalarFieldContainer[str]
    summary_json: str
    def __init__(self, groups_json: _Optional[_Iterable[str]] = ..., summary_json: _Optional[str] = ...) -> None: ...

class ListVerifiersRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class VerifierInfo(_message.Message):
    __slots__ = ("name", "version", "summary", "params_schema_json", "examples_json", "deterministic")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    PARAMS_SCHEMA_JSON_FIELD_NUMBER: _ClassVar[int]
    EXAMPLES_JSON_FIELD_NUMBER: _ClassVar[int]
    DETERMINISTIC_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    summary: str
    params_schema_json: str
    examples_json: str
    deterministic: bool
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., summary: _Optional[str] = ..., params_schema_json: _Optional[str] = ..., examples_json: _Optional[str] = ..., deterministic: bool = ...) -> None: ...

class ListVerifiersResponse(_message.Message):
    __slots__ = ("verifiers",)
    VERIFIERS_FIELD_NUMBER: _ClassVar[int]
    verifiers: _containers.RepeatedCompositeFieldContainer[VerifierInfo]
    def __init__(self, verifiers: _Optional[_Iterable[_Union[VerifierInfo, _Mapping]]] = ...) -> None: ...
