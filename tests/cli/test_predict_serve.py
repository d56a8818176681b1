"""`assay predict --serve`: how many servers hold a load, and what is refused."""

import json

import pytest

ASKED = ("predict", "--serve", "llama3-8b", "--prompt-tokens", "1024", "--output-tokens", "128")
CLOSED = (
    "model,gpu_system,backend,backend_version,precision,input_tokens,output_tokens,concurrency,batch_size,tp,"
    "ttft_ms,tpot_ms\n"
)


def said(assay, *argv):
    return json.loads(assay(*ASKED, *argv, "--json").stdout)


def test_more_load_takes_more_servers_and_every_option_has_an_answer_or_a_reason(assay):
    few = said(assay, "--rate", "10", "--slo", "ttft p99<1s", "--on", "h100", "--on", "l40s", "--splits", "1,2")
    many = said(assay, "--rate", "200", "--slo", "ttft p99<1s", "--on", "h100", "--splits", "1")
    assert len(few["options"]) == 4
    for option in few["options"]:
        assert (option["replicas"] > 0) != bool(option["refused"])
        if option["replicas"] > 0:
            assert option["devices"] == option["replicas"] * option["tensor"]
            # 10 requests of 128 tokens a second.
            hours = option["devices"] * 1e6 / 1280 / 3600
            assert option["device_hours_per_million_tokens"] == pytest.approx(hours)
    one = next(o for o in few["options"] if (o["device"], o["tensor"]) == ("h100", 1))
    assert many["options"][0]["replicas"] > one["replicas"]


def test_the_table_says_what_limits_it_and_what_would_help(assay, tmp_path):
    argv = ("--rate", "50", "--slo", "ttft p99<1s", "--on", "h100", "--splits", "1", "--price-of", "h100=2.5")
    printed = assay(*ASKED, *argv, "--markdown", "answer.md").stdout
    assert "limits it: a decode step of" in printed
    assert "What would help" in printed
    assert "weights in fp8" in printed
    assert "| device" in (tmp_path / "answer.md").read_text()


def test_clients_that_wait_and_prompts_of_their_own(assay):
    closed = said(assay, "--concurrency", "16", "--on", "h100", "--splits", "1")
    assert closed["options"][0]["replicas"] == 1
    apart = said(assay, "--rate", "60", "--on", "h100", "--splits", "1", "--disaggregate", "--slo", "ttft p99<1s")
    assert apart["options"][0]["prefill_replicas"] >= 1


def test_points_that_were_measured_calibrate(assay, tmp_path):
    rows = "".join(
        f"llama3-8b,h100_sxm,mine,1,,1024,128,{clients},{clients},1,{60 + 10 * clients},{20 + clients}\n"
        for clients in (1, 4, 16)
    )
    (tmp_path / "points.csv").write_text(CLOSED + rows)
    argv = ("--rate", "5", "--server", "mine", "--calibrate", "points.csv", "--on", "h100", "--splits", "1")
    answer = said(assay, *argv)
    assert answer["rests_on"].startswith("3 points of")
    # A token takes at least the 20 ms that were measured, far from the 7 ms of other servers.
    assert answer["options"][0]["token_seconds"]["p50"] > 0.015


def test_a_result_of_assay_load_calibrates(assay, null_server, tmp_path):
    """20 ms between tokens, far from the 7 ms of other servers; also where a closed loop's latency grows by chance."""
    url = null_server("gap=20ms") + "/v1/completions"
    argv = ("--arrivals", "closed", "--clients", 2, "--requests", 12, "--output", 16, "--warm-up", "0s")
    found = json.loads(assay("load", url, *argv, "--no-certification", "--json").stdout)
    found["points"][0]["growth"] = 1.0
    (tmp_path / "points.json").write_text(json.dumps(found))
    argv = ("--rate", "5", "--server", "mine", "--calibrate", "points.json", "--on", "h100", "--splits", "1")
    answer = said(assay, *argv)
    assert answer["rests_on"].startswith("1 points of mine")
    assert answer["options"][0]["token_seconds"]["p50"] > 0.015


BUSY = ("--rate", "40", "--slo", "ttft p99<2s", "--on", "h100", "--splits", "1")


def test_lengths_that_differ_wait_longer_and_a_file_has_its_own_means(assay, tmp_path):
    alike = said(assay, *BUSY)
    spread = said(assay, *BUSY, "--lengths", "lognormal:1")
    assert (spread["lengths"], spread["length_width"]) == ("lognormal", 1)
    assert "lengths" not in alike or alike["lengths"] is None
    assert spread["options"][0]["first_token_seconds"]["p99"] <= 2
    assert spread["options"][0]["rate_per_server"] < alike["options"][0]["rate_per_server"]
    (tmp_path / "trace.csv").write_text("seconds,input,output\n0,500,10\n1,1500,30\n")
    argv = ("predict", "--serve", "llama3-8b", *BUSY, "--lengths", "trace.csv")
    listed = json.loads(assay(*argv, "--json").stdout)
    assert (listed["prompt_tokens"], listed["output_tokens"], listed["lengths"]) == (1000, 20, "listed")
    assert "1000 tokens in and 20 out on average" in assay(*argv).stdout


def test_the_queue_is_part_of_a_first_token_and_a_busy_server_has_a_longer_one(assay):
    few, many = (said(assay, "--rate", rate, *BUSY[2:])["options"][0] for rate in ("1", "20"))
    for option in (few, many):
        for share in ("p50", "p99"):
            assert 0 <= option["queue_seconds"][share] < option["first_token_seconds"][share]
    assert few["replicas"] == many["replicas"] == 1
    assert few["queue_seconds"]["p99"] < many["queue_seconds"]["p99"]


def test_small_steps_read_the_weights_more_often_and_turns_need_as_many_servers_or_more(assay):
    """8192 tokens are 32 steps of 256, each of which reads 16.06 GB of weights at no more than 3.35 TB/s."""
    asked = ("predict", "--serve", "llama3-8b", "--prompt-tokens", "8192", "--on", "h100", "--splits", "1", "--json")
    asked += ("--concurrency", "1", "--sequences", "64")
    large, small = (json.loads(assay(*asked, *flags).stdout)["options"][0] for flags in ((), ("--step-tokens", "256")))
    assert small["first_token_seconds"]["p50"] > max(large["first_token_seconds"]["p50"], 32 * 16.06 / 3350)
    argv = ("--rate", "200", "--slo", "ttft p99<200ms", "--on", "h100", "--splits", "1", "--lengths", "lognormal:1")
    least, turns = (said(assay, *argv, "--routing", name)["options"][0] for name in ("least_work", "round_robin"))
    assert turns["replicas"] >= least["replicas"]


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("--serve", "llama3-8b"), "say what comes: --rate 20"),
        (("--serve", "llama3-8b", "--rate", "1", "--concurrency", "2"), "not both"),
        (("--serve", "llama9", "--rate", "1"), "is not a model of the catalogue"),
        (("--serve", "bert-base", "--rate", "1"), "not a decoder"),
        (("--serve", "llama3-8b", "--rate", "1", "--on", "abacus"), "'abacus' is not in the catalogue"),
        (("--serve", "llama3-8b", "--rate", "1", "--server", "abacus"), "There are sglang, trtllm, vllm"),
        (("--serve", "llama3-8b", "--rate", "1", "--price-of", "v100=1"), "not one of the devices that are tried"),
        (("--serve", "llama3-8b", "--rate", "1", "--weights", "fp7"), "--weights: 'fp7' is not known"),
        (("--serve", "llama3-8b", "--rate", "1", "--cluster", "c.yaml"), "--cluster changes nothing here"),
        (("resnet50", "--rate", "1"), "--rate is for a served model"),
        (("--serve", "llama3-8b", "--rate", "1", "--lengths", "normal:1"), "--lengths: 'normal:1' is not known"),
        (("--serve", "llama3-8b", "--rate", "1", "--lengths", "uniform:2"), "at most 1"),
        (("--serve", "llama3-8b", "--rate", "1", "--lengths", "a.csv", "--prompt-tokens", "9"), "a.csv says the"),
        (("--serve", "llama3-8b", "--rate", "1", "--routing", "dice"), "There are round_robin, least_work"),
        (("--serve", "llama3-8b", "--rate", "1", "--step-tokens", "100"), "Add --sequences 100 or less"),
        (("resnet50", "--step-tokens", "100"), "--step-tokens is for a served model"),
    ],
)
def test_what_cannot_act_is_refused(assay, argv, words):
    assert words in assay("predict", *argv, code=2).stderr
