"""Labelled decisions of the log are examples, and questions for others."""

import json

from gateway_core.testing import Reply

OPTIONS = ["billing", "sales", "tech"]


def test_logged_and_labelled_decisions_are_examples(run, upstream, tmp_path, fits, options):
    for number in range(40):
        asked = ("decide", f"Ticket {number}?", *options, "--json")
        reply = json.loads(run(*asked).stdout)
        run("log", "label", reply["request_id"], "billing" if number % 3 else "tech")
    run("calibrate", "fit", "--from-log", "--provider", "acme")
    assert len(upstream.requests) == 40
    assert fits()[0].fits[0].examples == 40
    exported = tmp_path / "log.jsonl"
    run("log", "export", "-o", str(exported))
    run("calibrate", "fit", str(exported), "--provider", "acme")
    assert len({file.data_digest for file in fits()}) == 1


def test_logged_questions_are_put_to_another_provider(run, upstream, tmp_path, options):
    with (tmp_path / "config.toml").open("a") as config:
        config.write(
            '[providers.other]\ndialect = "generic-systemone"\n'
            f'base_url = "{upstream.url}"\nmodels = ["other-model"]\n'
        )
    for number in range(5):
        reply = json.loads(run("decide", f"Ticket {number}?", *options, "--json").stdout)
        run("log", "label", reply["request_id"], "billing")
    asked = ("calibrate", "report", "--from-log", "--provider", "acme", "--provider", "other")
    page = ("-o", str(tmp_path / "page.html"))
    assert "other (other-model) is to be asked 5 questions" in run(*asked, *page, code=2).stderr
    assert "acme against other: +0.0 points" in run(*asked, *page, "--yes").stdout
    assert len(upstream.requests) == 10


def test_a_provider_that_names_no_model_is_fitted_for_the_one_it_was_asked_for(
    run, upstream, fits, options
):
    spread = dict(zip(OPTIONS, (0.98, 0.01, 0.01), strict=True))
    choice = {"type": "choice", "choice": "billing", "probabilities": spread}
    upstream.answer(Reply(body={"answers": {"decision": choice}}))
    for number in range(40):
        reply = json.loads(run("decide", f"Ticket {number}?", *options, "--json").stdout)
        assert reply["model"] is None
        run("log", "label", reply["request_id"], "billing" if number % 3 else "tech")
    run("calibrate", "fit", "--from-log", "--provider", "acme")
    (file,) = fits()
    assert [fit.model for fit in file.fits] == ["acme"]
    reply = json.loads(run("decide", "Another?", *options, "--json").stdout)
    assert reply["calibration"]["id"] == file.id
