"""The document's snippets, as written apart from the package name, and the manners of the module."""
from decimal import Decimal

import pytest

from exa import hardware
from exa.hardware import Placement, Rejection, Workload, add_pool, device_accounting, place, portable


@pytest.fixture(autouse=True)
def document_pools():
    hardware.clear_pools()
    add_pool("hpc-nvidia", target="hpc", accelerator="nvidia", count=8, region="eu",
             cost_per_hour=2.5, carbon_factor=300, supports_fractions=True)
    add_pool("hpc-mi300", target="hpc", accelerator="amd", count=4, region="eu")
    add_pool("cloud-a100", target="cloud", accelerator="nvidia", count=100, region="us")
    yield
    hardware.clear_pools()


def test_the_documents_workload_is_placed_or_rejected():
    w = Workload(
        "train-llm",
        accelerator="amd",          # nvidia | amd | intel-gaudi | tpu | cpu
        capabilities=["fp8"],       # capability tags the pool must advertise
        target="hpc",               # hpc | cloud | None (=any)
        engine="vllm",              # engine (E2) — declares which backends it supports
        fraction=1.0,               # <1.0 requests a GPU fraction (E3)
    )
    placement = place(w)            # Placement(...)  or  Rejection(...)
    assert isinstance(placement, Rejection) and not placement
    assert "does not advertise fp8" in placement.reason
    add_pool("hpc-mi300", capabilities=["fp8"])
    placement = place(w)
    assert isinstance(placement, Placement) and placement
    assert (placement.pool, placement.accelerator, placement.target) == ("hpc-mi300", "amd", "hpc")
    assert (placement.fallback, placement.fraction_honored, placement.note) == (False, True, None)


def test_the_documents_accounting():
    add_pool("hpc-mi300", cost_per_hour=1.8, carbon_factor=250)
    placement = place(Workload("train", accelerator="amd"))
    assert device_accounting(placement, hours=10) == {
        "device": "amd", "region": "eu", "hours": 10, "cost": 18.0, "carbon_g": 2500.0}
    assert device_accounting(placement, 0.1)["cost"] == 0.18
    assert device_accounting(placement, Decimal("0.5"))["carbon_g"] == 125.0


def test_the_documents_transcripts():
    assert str(place(Workload("train", accelerator="amd", engine="sglang"))) == (
        "✗ Rejected: engine 'sglang' cannot run on amd (needs backend rocm; supports ('cuda',))")
    assert str(place(Workload("train", accelerator="tpu", engine="generic", target="hpc"))) == (
        "✓ train → pool hpc-mi300 · amd on hpc (fallback)\n"
        "  requested tpu unavailable — fell back to amd")
    blocked = hardware.burst(Workload("train", accelerator="nvidia", residency="eu-only"), allow_burst=True)
    assert blocked.kind == "blocked"
    assert blocked.reason == "data-residency eu-only forbids egress to region 'us'"


def test_a_fraction_without_a_mechanism_is_a_whole_device():
    placement = place(Workload("t", accelerator="amd", fraction=0.5))
    assert (placement.fraction_honored, placement.held_fraction) == (False, 1.0)
    placement = place(Workload("t", fraction=0.5))
    assert (placement.pool, placement.fraction_honored, placement.held_fraction) == ("hpc-nvidia", True, 0.5)


def test_unknown_is_none_and_never_zero():
    placement = place(Workload("t", target="cloud"))
    assert placement.cost_per_hour is None and placement.carbon_factor is None
    assert device_accounting(placement, hours=1)["cost"] is None
    free = place(Workload("t", accelerator="amd"))
    assert free.cost_per_hour == 0.0 and free.price_set is False
    assert device_accounting(free, 1, details=True)["price_set"] is False


def test_portable_is_a_truth_with_a_reason():
    assert portable("vllm", "amd")
    answer = portable("sglang", "amd")
    assert not answer and answer.needs == "rocm" and answer.supports == ("cuda",)
    with pytest.raises(ValueError, match="did you mean vllm"):
        portable("vlm", "amd")
    assert hardware.engines()["generic"] == ("cuda", "rocm", "ipex", "xla", "cpu")


def test_every_problem_is_said_at_once():
    with pytest.raises(ValueError) as refused:
        Workload("t", accelerator="nvidai", fraction=float("nan"), gpus=0, gpu=1)
    for text in ("accelerator", "did you mean nvidia?", "fraction", "gpus", "gpu:"):
        assert text in str(refused.value)
    for bad in ({"fraction": 3.0}, {"fraction": -1}, {"fraction": 0}, {"fraction": True}, {"cpu": float("inf")},
                {"engine": "x"}, {"target": "moon"}, {"gpus": 1.5}):
        with pytest.raises(ValueError):
            Workload("t", **bad)
    for bad in (-1, float("nan"), "many", None, True):
        with pytest.raises(ValueError):
            device_accounting(place(Workload("t")), bad)
    with pytest.raises(TypeError):
        Workload("t", model=object())


def test_pools_are_listed_cheapest_first_merged_drained_and_removed():
    assert [pool.name for pool in hardware.pools()] == ["hpc-mi300", "hpc-nvidia", "cloud-a100"]
    assert add_pool("hpc-nvidia", count=9).cost_per_hour == 2.5
    hardware.drain_pool("hpc-mi300", "ticket 7")
    refused = place(Workload("t", accelerator="amd", fallback=False))
    assert "drained: ticket 7" in refused.reason
    hardware.resume_pool("hpc-mi300")
    hardware.remove_pool("hpc-mi300")
    with pytest.raises(KeyError, match="hpc-mi300"):
        hardware.remove_pool("hpc-mi300")
    assert len(hardware.pools()) == 2


def test_pools_can_be_passed_and_their_order_plays_no_part():
    pools = hardware.pools()
    w = Workload("t", accelerator="nvidia")
    assert place(w, pools).pool == place(w, reversed(pools)).pool == place(w).pool
    assert place(w, []).kind == "no-pool"
    with pytest.raises(ValueError, match="two pools"):
        place(w, pools + pools)


def test_a_near_miss_holds_when_it_is_asked():
    refused = place(Workload("t", accelerator="nvidia", target="hpc", engine="vllm", gpus=12))
    nearest = refused.near_misses[0]
    assert (nearest["pool"], nearest["changes"], nearest["only_the_ask"]) == ("hpc-nvidia", ["--gpus 8"], True)
    instead = {key: value for key, value in nearest["instead"].items() if key != "name"}
    assert place(Workload("t", **instead)).pool == "hpc-nvidia"


def test_the_whole_decision_names_every_pool():
    decision = hardware.decide(Workload("t", accelerator="nvidia", residency="eu-only"))
    assert {c["pool"]: c["outcome"] for c in decision["candidates"]} == {
        "hpc-nvidia": "chosen", "hpc-mi300": "eligible", "cloud-a100": "blocked"}


def test_the_module_documents_itself():
    for name in ("Workload", "Placement", "Rejection", "place", "portable", "device_accounting", "add_pool"):
        assert len(getattr(hardware, name).__doc__) > 60
    assert "Source: requirement E8" in hardware.place.__doc__
