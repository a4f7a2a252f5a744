"""Servers that people run themselves and that speak System One, as data.

From the servers' released sources and documentation, as of November 2026. What no source
confirms is named in ``unverified`` and chosen so that a server cannot mind.
"""

from typing import Final

from gateway_core import EmptyState, YesNo
from s1gw_generic_systemone.server import Listing, Server

_LETTERS: Final = 26
"""Models that answer with one letter per option have as many options as letters."""

SELF_HOSTED: Final = (
    Server(
        name="ollama",
        title="Ollama ≥ 0.35",
        usual_base="http://localhost:11434",
        max_options=_LETTERS,
        error_shape="error (text)",
        unverified=frozenset({"empty_state"}),
    ),
    Server(
        name="vllm",
        title="vLLM ≥ 0.32",
        usual_base="http://localhost:8000",
        max_options=_LETTERS,
        max_questions=64,
        empty_state=EmptyState.STRING,
        error_shape="error.message, error.type, error.code (number)",
        note="Models that read codes take 255 options. Its confidence is the top probability "
        "times the mass on the labels.",
    ),
    Server(
        name="sglang",
        title="SGLang",
        usual_base="http://localhost:30000",
        max_options=_LETTERS,
        empty_state=EmptyState.STRING,
        label_control_characters=False,
        label_case_sensitive=False,
        error_shape="detail[] for the schema, else flat message, type, code",
        note="Some models take 255 options. A model name with a colon is read as an adapter's. "
        "Its own /v1/decisions is another format.",
    ),
    Server(
        name="llama-cpp",
        title="llama.cpp",
        usual_base="http://127.0.0.1:8080",
        max_options=52,
        error_shape="error.message, error.type, error.code",
        unverified=frozenset({"empty_state", "error_shape"}),
        note="52 options is openjev's limit; other models take 255.",
    ),
    Server(
        name="localai",
        title="LocalAI",
        usual_base="http://localhost:8080",
        error_shape="error.message, error.code",
        unverified=frozenset({"max_options", "empty_state", "error_shape"}),
    ),
    Server(
        name="strands",
        title="Strands Decider",
        usual_base="http://127.0.0.1:8000",
        empty_state=EmptyState.STRING,
        models_path="",
        health_path="/health",
        error_shape="detail (text)",
    ),
    Server(
        name="avrik",
        title="Avrik",
        yes_no=YesNo.CHOICE,
        listing=Listing.TYPESAFE,
        error_shape="error.code, error.message, error.field",
        retryable_codes=("rate_limit_minute",),
        final_codes=("rate_limit_day", "request_spending_limit"),
        unverified=frozenset({"path", "max_options", "empty_state"}),
        note="A noul needs both criteria, so a choice is put. The label __abstain__ is reserved; "
        "limits depend on the model.",
    ),
    Server(
        name="jev-compatible-server",
        title="jev-compatible-server",
        yes_no=YesNo.CHOICE,
        models_path="",
        health_path="/health",
        error_shape="detail (text)",
        unverified=frozenset({"empty_state"}),
        note="A noul needs both criteria, so a choice is put.",
    ),
    Server(
        name="litellm",
        title="LiteLLM proxy",
        usual_base="http://localhost:4000",
        max_questions=128,
        keyless=False,
        error_shape="error.message, error.type, error.code",
        unverified=frozenset({"empty_state"}),
    ),
)
