"""`assay fit` on collectives: files in the formats of OSU and nccl-tests with a planted link, and a live one by MPI."""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import shutil

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev"))
RECORDED = ROOT / "tests" / "recorded"
RANKS = (2, 4, 8, 16)


def load_planted():
    """The constants that the recorded files were made with."""
    loader = importlib.machinery.SourceFileLoader("make_collectives", str(RECORDED / "make_collectives"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_collectives", loader))
    loader.exec_module(module)
    return module


PLANTED = load_planted()


def files(pattern):
    return [str(RECORDED / "collectives" / pattern.format(ranks)) for ranks in RANKS]


@pytest.fixture
def fit(assay, validate):
    def links(*argv):
        found = json.loads(assay("fit", *argv, "--json").stdout)
        return [validate(link, "link") for link in found]

    return links


def piece_of(link, collective):
    [fit] = [fit for fit in link["collectives"] if fit["collective"] == collective]
    [piece] = fit["pieces"]
    return piece


def check_planted(constants, alpha, beta):
    """16 sizes and 4 numbers of ranks with errors of 1 %: a constant is known within 1 %, and the interval is of that
    order; that intervals hold the truth as often as they say is tested beside the code."""
    assert constants["alpha_seconds"]["value"] == pytest.approx(alpha, rel=0.01)
    assert constants["beta_seconds_per_byte"]["value"] == pytest.approx(beta, rel=0.01)
    for constant in (constants["alpha_seconds"], constants["beta_seconds_per_byte"]):
        assert 0.98 * constant["value"] < constant["low"] < constant["value"] < constant["high"]
        assert constant["high"] < 1.02 * constant["value"]


def test_osu_files_give_the_planted_link_and_its_ring(fit):
    [link] = fit("--collectives", *files("osu_allreduce_{}.txt"), "--ranks", "2,4,8,16")
    piece = piece_of(link, "all_reduce")
    assert piece["told_apart"] and piece["algorithms"][0]["algorithm"] == "ring"
    check_planted(piece["algorithms"][0]["constants"], PLANTED.ALPHA, PLANTED.BETA)
    assert any("gamma cannot be separated" in note for note in link["notes"])


def test_osu_latency_alone_is_a_line(fit):
    [link] = fit("--collectives", str(RECORDED / "collectives" / "osu_latency.txt"))
    check_planted(piece_of(link, "ping_pong")["algorithms"][0]["constants"], PLANTED.ALPHA, PLANTED.BETA)


def test_nccl_files_tell_their_ranks(fit):
    [link] = fit("--collectives", *files("nccl_all_reduce_{}.txt"))
    assert link["collectives"][0]["ranks"] == list(RANKS)
    piece = piece_of(link, "all_reduce")
    assert piece["told_apart"] and piece["algorithms"][0]["algorithm"] == "ring"
    check_planted(piece["algorithms"][0]["constants"], PLANTED.NCCL_ALPHA, PLANTED.NCCL_BETA)


def test_one_file_tells_no_algorithm_but_a_line_for_each(fit):
    [link] = fit("--collectives", files("nccl_all_reduce_{}.txt")[1])
    piece = piece_of(link, "all_reduce")
    assert not piece["told_apart"] and len(piece["as_well"]) == 4
    assert any("with 4 ranks alone" in note for note in link["notes"])


def test_a_person_is_told_of_every_constant(assay):
    told = assay("fit", "--collectives", *files("nccl_all_reduce_{}.txt")).stdout
    assert "* ring" in told and "halving_doubling" in told
    assert "alpha 6.0" in told or "alpha 5.9" in told
    assert "what each message costs" in told and "GB/s" in told and "note: gamma" in told


def test_csv_of_ones_own(fit, tmp_path):
    """alpha 1 ms and 1 GB/s: a message each way of 0, 1 and 2 MB takes 2, 4 and 6 ms."""
    path = tmp_path / "mine.csv"
    path.write_text(
        "collective,ranks,bytes,seconds\nping_pong,2,0,.002\nping_pong,2,1000000,.004\nping_pong,2,2000000,.006\n"
    )
    [link] = fit("--collectives", path)
    constants = piece_of(link, "ping_pong")["algorithms"][0]["constants"]
    assert constants["alpha_seconds"]["value"] == pytest.approx(1e-3)
    assert constants["beta_seconds_per_byte"]["value"] == pytest.approx(1e-9)


@pytest.mark.parametrize(
    "flags, code, words",
    [
        (["--link"], 2, "--link needs --campaign NAME"),
        (["--collectives", "x.txt", "--campaign", "y"], 2, "Leave --campaign out"),
        (["--collectives", "absent.txt"], 1, "cannot open absent.txt"),
        (["--collectives", files("osu_allreduce_{}.txt")[0]], 2, "Give it with --ranks"),
        (["--collectives", *files("osu_allreduce_{}.txt"), "--ranks", "2,4"], 2, "--ranks has 2 numbers"),
        (["--collectives", files("nccl_all_reduce_{}.txt")[0], "--ranks", "4"], 2, "it names 2 ranks"),
        (["--collectives", str(ROOT / "LICENSE")], 1, "--format"),
        (["--link", "--campaign", "nothing"], 2, "assay.db"),
    ],
)
def test_what_cannot_be_fitted_is_refused_with_a_way_out(assay, flags, code, words):
    assert words in assay("fit", *flags, code=code).stderr


@pytest.mark.skipif(not (BUILD / "workers" / "mpi" / "worker.json").exists(), reason="built without MPI")
@pytest.mark.skipif(not shutil.which("mpirun"), reason="mpirun is not installed")
def test_a_campaign_of_mpi_gives_a_plausible_link(assay, fit):
    """No times are judged: a message inside a machine takes less than 1 s, and a byte less than at 1 MB/s."""
    sizes = ",".join(str(1 << power) for power in (10, 14, 18, 22))
    asked = ["run", "all_reduce", "--worker", "mpi", "--ranks", "2,4", "--option", f"bytes={sizes}", "--spin", "false"]
    short = ["--runs", "2", "--seconds", "0.05", "--warmup", "0.01", "--warmup-cap", "0.01", "--retries", "0"]
    assay(*asked, *short, "--no-peak", "--no-phases", "--quiet", "--name", "links")
    [link] = fit("--link", "--campaign", "links")
    [collective] = link["collectives"]
    assert collective["ranks"] == [2, 4] and collective["sizes"] == 4
    assert 8 <= collective["points"] <= 16  # of each trial both runs, or the one that nothing disturbed
    # Small messages show what one costs, large ones what a byte does: sent (beta), or sent and added (gamma). Ranks
    # that take turns on few CPUs can leave both at 0, and alpha then holds it all: what must be plausible is the time
    # of the largest message, which is not sent at 10 TB/s.
    small, large = (collective["pieces"][i]["algorithms"][0]["constants"] for i in (0, -1))
    assert link["source"].startswith("mpi 4.1")
    assert 0 <= small["alpha_seconds"]["value"] < 1
    added = large["gamma_seconds_per_byte"] or {"value": 0}
    each_byte = large["beta_seconds_per_byte"]["value"] + added["value"]
    assert 0 <= each_byte < 1e-6
    assert large["alpha_seconds"]["value"] + (1 << 22) * each_byte > (1 << 22) * 1e-13
