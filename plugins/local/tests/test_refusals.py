import json

import pytest

from gateway_core.errors import ModelNotFound, ProviderError, RequestTooLarge, UpstreamRejected

CHOICE = {"type": "choice", "criteria": {"a": None, "b": "bee"}}


def body(**keys):
    return {"model": "local", "state": "s", "questions": {"q": CHOICE}} | keys


def question(**keys):
    return body(questions={"q": CHOICE | keys})


def score(*levels):
    return question(type="score", criteria=list(levels))


FAULTS = {
    "not JSON": (b"{", "body: it is not JSON"),
    "not UTF-8": (b'{"a": "\xff"}', "body: it is not UTF-8"),
    "UTF-16": ('{"a": 1}'.encode("utf-16-le"), "body: it is not UTF-8"),
    "NaN": (b'{"a": NaN}', "body: NaN is not JSON"),
    "endless number": (b'{"a": ' + b"1" * 5000 + b"}", "body: it holds a number of too many"),
    "nested too deeply": (b"[" * 200_000, "body: it is nested more than 128 deep"),
    "array": (b"[]", "body: must be an object"),
    "duplicate key": (b'{"a": 1, "a": 2}', "body: 'a' occurs twice in one object"),
    "no model": (body(model=None), "model: must be a non-empty string"),
    "model of another type": (body(model=3), "model: must be a non-empty string"),
    "no state": ({"model": "local", "questions": {"q": CHOICE}}, "state: is required"),
    "null state": (body(state=None), "state: is required"),
    "number as state": (body(state=3), "state: is required"),
    "nothing to judge": (body(state=" "), "state: is blank and so are the instructions"),
    "images": (body(assets={"a": {}}), "assets: images are not read"),
    "no questions": ({"model": "local", "state": "s"}, "questions: must be an object"),
    "empty questions": (body(questions={}), "questions: must be an object with at least one"),
    "list of questions": (body(questions=[CHOICE]), "questions: must be an object"),
    "too many questions": (
        body(questions={str(n): CHOICE for n in range(65)}),
        "questions: must be at most 64",
    ),
    "empty key": (body(questions={"": CHOICE}), "questions: must not have an empty key"),
    "question of another type": (body(questions={"q": "?"}), "questions.q: must be an object"),
    "no type": (question(type=None), "questions.q.type: must be 'choice' or 'score'"),
    "unknown type": (question(type="rank"), "questions.q.type: must be 'choice' or 'score'"),
    "yes/no": (question(type="noul"), "questions.q.type: 'noul' is not answered"),
    "box": (question(type="box"), "questions.q.type: 'box' is not answered"),
    "instructions": (question(instructions=3), "questions.q.instructions: must be a string"),
    "no criteria": (question(criteria=None), "questions.q.criteria: must be an object of 1 to"),
    "empty criteria": (question(criteria={}), "questions.q.criteria: must be an object of 1 to"),
    "listed labels": (question(criteria=["a"]), "questions.q.criteria: must be an object of 1 to"),
    "256 labels": (
        question(criteria=dict.fromkeys(map(str, range(256)))),
        "questions.q.criteria: must be an object of 1 to 255",
    ),
    "blank label": (question(criteria={" ": "x"}), "questions.q.criteria: must not have a blank"),
    "description": (question(criteria={"a": 3}), "questions.q.criteria.a: must be a string"),
    "map of levels": (
        question(type="score"),
        "questions.q.criteria: must be an array of 1 to 10 levels",
    ),
    "no levels": (score(), "questions.q.criteria: must be an array of 1 to 10 levels"),
    "11 levels": (score(*"abcdefghijk"), "questions.q.criteria: must be an array of 1 to 10"),
    "null level": (score("a", None), "questions.q.criteria.1: must be a non-blank string"),
    "blank level": (score("a", " "), "questions.q.criteria.1: must be a non-blank string"),
    "number as level": (score(1, 2), "questions.q.criteria.0: must be a non-blank string"),
}


@pytest.mark.anyio
@pytest.mark.parametrize("case", FAULTS, ids=str)
async def test_a_fault_is_refused_with_the_path_of_its_field(ask, case):
    sent, said = FAULTS[case]
    with pytest.raises(UpstreamRejected) as refused:
        await ask(sent)
    assert refused.value.status == 422
    assert refused.value.upstream_message.startswith(said)


@pytest.mark.anyio
async def test_a_yes_no_question_is_refused_with_the_way_out(ask):
    with pytest.raises(UpstreamRejected) as refused:
        await ask(question(type="noul", instructions="Is it urgent?", criteria=None))
    assert "ask a 'choice'" in refused.value.upstream_message
    assert "another provider" in refused.value.upstream_message


@pytest.mark.anyio
async def test_an_unknown_model_is_not_found_and_the_known_one_is_named(ask):
    with pytest.raises(ModelNotFound) as refused:
        await ask(body(model="jev-latest"))
    assert refused.value.status == 404
    assert "'local-e5-small'" in refused.value.upstream_message


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["local", "local-e5-small", "local-e5-small-1"])
async def test_the_model_is_known_by_its_name_its_version_and_an_alias(ask, name):
    assert (await ask(body(model=name)))["model"] == "local-e5-small-1"


@pytest.mark.anyio
@pytest.mark.parametrize(
    "sent",
    [body(state="x" * 1_048_577), body(state="x" * 200_001)],
    ids=["bytes", "characters"],
)
async def test_a_body_that_would_take_too_long_is_refused(ask, sent):
    with pytest.raises(RequestTooLarge) as refused:
        await ask(sent)
    assert refused.value.status == 413


@pytest.mark.anyio
async def test_a_multipart_body_is_refused(ask):
    with pytest.raises(UpstreamRejected) as refused:
        await ask(body(), content_type="multipart/form-data; boundary=x")
    assert refused.value.upstream_message.startswith("content-type: ")


@pytest.mark.anyio
@pytest.mark.parametrize("case", ["256 labels", "description", "yes/no", "nothing to judge"])
async def test_no_error_text_holds_a_part_of_the_body(ask, case):
    sent = json.loads(json.dumps(FAULTS[case][0]).replace('"q"', '"marker"'))
    with pytest.raises(ProviderError) as refused:
        await ask(sent)
    assert "marker" not in str(refused.value)


@pytest.mark.anyio
async def test_unknown_keys_are_ignored_as_the_reference_server_does(ask):
    reply = await ask(body(trace="x", questions={"q": CHOICE | {"note": 1}}))
    assert list(reply["answers"]) == ["q"]
