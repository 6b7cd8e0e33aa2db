// Any JSON object as a shape: every problem with its place, or a shape that keeps all rules, is
// stored and read back unchanged, and gets an answer from a fleet.
#include "hardware/catalogue.h"
#include "profile/validate.h"
#include "resolve/resolve.h"

namespace exa {
namespace {

constexpr Time kNow{1'800'000'000'000'000};

Offer offer(Sharing sharing, int64_t units, std::optional<int64_t> free, std::string mig = {}) {
  Offer result;
  result.sharing = sharing;
  result.units = units;
  result.free = free;
  if (free) result.used = units - *free;
  result.mig_profile = std::move(mig);
  return result;
}

Node node(std::string name, Family family, std::string model, std::vector<Offer> offers) {
  Node result;
  result.name = std::move(name);
  result.health = Health::usable;
  result.cpu_milli = result.cpu_free_milli = 64'000;
  result.memory_bytes = int64_t{256} << 30;
  CardSet cards;
  cards.family = family;
  cards.reported = std::move(model);
  cards.physical = 4;
  cards.offers = std::move(offers);
  result.cards.push_back(std::move(cards));
  return result;
}

const Fleet& fleet() {
  static const Fleet kFleet = [] {
    Inventory seen;
    seen.kind = ClusterKind::slurm;
    seen.nodes = {
        node("a", Family::nvidia, "A100-SXM4-80GB",
             {offer(Sharing::whole, 4, 2), offer(Sharing::time_slice, 16, 9)}),
        node("b", Family::nvidia, "A100-SXM4-80GB", {offer(Sharing::mig, 28, 3, "1g.10gb")}),
        node("c", Family::nvidia, "a100", {offer(Sharing::whole, 4, std::nullopt)}),
        node("d", Family::amd, "", {offer(Sharing::whole, 4, 4)}),
        node("e", Family::intel_gaudi, "HL-325L", {}),
    };
    seen.nodes[0].software = {{"cuda", "12.4"}};
    seen.nodes[1].memory_bytes.reset();
    seen.nodes[2].cpu_milli.reset();
    seen.nodes[3].health = Health::draining;
    seen.unread = {{"squeue", "not permitted"}};
    return build_fleet(seen);
  }();
  return kFleet;
}

void resolve_on(const Shape& shape, Duration age, bool declared) {
  ResolveInput input;
  input.shape = shape;
  input.target = "hpc";
  input.seen = {&fleet(), "snap-1", Time{kNow.micros - age.micros}, declared};
  input.now = kNow;
  const Resolution answer = resolve(input);
  EXA_ASSERT(!answer.reason.empty() && answer.seen);
  EXA_ASSERT((answer.status == Status::verified) ==
             (answer.unconfirmed.empty() && answer.status != Status::unresolvable));
  // an old or typed-in capacity is never a verified one
  EXA_ASSERT(answer.status != Status::verified || (!declared && age <= input.max_age));
  EXA_ASSERT(!to_text(to_json(answer)).empty());
}

void check_shape(const json::object& object) {
  const auto shape = read_shape(object);
  if (!shape) {
    EXA_ASSERT(!shape.error().problems.empty());
    for (const Problem& problem : shape.error().problems)
      EXA_ASSERT(problem.where.starts_with('/') && !problem.message.empty());
    return;
  }
  EXA_ASSERT(contradictions(*shape).empty());
  EXA_ASSERT(read_shape(shape_to_json(*shape)) == *shape);
  const auto row = parse_json(to_text(shape_to_json(*shape)), "row");
  EXA_ASSERT(row && row->is_object());
  EXA_ASSERT(shape_from_json(row->get_object()) == *shape);
  resolve_on(*shape, minutes(1), false);
  resolve_on(*shape, hours(1), false);
  resolve_on(*shape, minutes(1), true);
}

}  // namespace
}  // namespace exa

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto value = exa::parse_json(text, "fuzz");
  if (!value || !value->is_object()) return 0;
  exa::check_shape(value->get_object());
  // a stored row may be damaged in any way
  (void)exa::shape_from_json(value->get_object());
  return 0;
}
