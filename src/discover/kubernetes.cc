// Kubernetes: the answers of an API server (or `kubectl get … -o json`) to an inventory.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "discover/kubernetes_dra.h"
#include "discover/kubernetes_json.h"
#include "discover/kubernetes_nodes.h"
#include "discover/kubernetes_pods.h"
#include "discover/readers.h"

namespace exa {
namespace {

using kubernetes::Unreadable;

constexpr std::string_view kNodes = "GET /api/v1/nodes";
constexpr std::string_view kPods = "GET /api/v1/pods";
constexpr std::string_view kVersion = "GET /version";
constexpr std::string_view kMixed = "kubectl get nodes,pods";

// "GET /api/v1/nodes", "GET /api/v1/nodes page 2", …
std::vector<const CapturedOutput*> pages(const Capture& capture, std::string_view question) {
  std::vector<const CapturedOutput*> found;
  for (const CapturedOutput& output : capture.outputs) {
    std::string_view rest = output.name;
    if (!rest.starts_with(question)) continue;
    rest.remove_prefix(question.size());
    if (rest.empty() || rest.starts_with(" page ")) found.push_back(&output);
  }
  return found;
}

// The sentence in a refusal of the API server (kind Status), or the start of whatever came.
std::string refusal(const CapturedOutput& output) {
  std::string text = output.err;
  if (const auto status = parse_json(output.out, output.name); status && status->is_object())
    text = text_or(*status, "message", text);
  if (text.empty()) text = output.out.substr(0, 200);
  return fmt::format("{} {}", output.exit_code, printable(trim(text)));
}

struct Pods {
  kubernetes::PodUse use;
  std::optional<Unread> unread;  // why what is used is unknown
  std::optional<Unread> doubt;   // why more may be in use than was counted
};

Pods read_pods(simdjson::ondemand::parser& parser, const Capture& capture) {
  Pods pods;
  auto lists = pages(capture, kPods);
  const bool from_kubectl = lists.empty();
  if (from_kubectl) lists = pages(capture, kMixed);
  if (lists.empty()) {
    pods.unread = {"pods", "not among what was read: what is in use is unknown"};
    return pods;
  }
  for (const CapturedOutput* list : lists) {
    if (list->exit_code != 0) {
      pods.unread = {"pods", refusal(*list) + "; what is in use is unknown"};
      return pods;
    }
    pods.use.more = false;
    kubernetes::add_pods(parser, *list, pods.use);
  }
  if (pods.use.more) {
    pods.unread = {"pods", "the list goes on after what was read: what is in use is unknown"};
  } else if (from_kubectl && !pods.use.any_pods) {
    pods.unread = {"pods", "the list names none: what is in use is unknown"};
  } else if (from_kubectl && pods.use.namespaces.size() == 1) {
    pods.doubt = {"pods",
                  fmt::format("all are of namespace {}: unless kubectl was asked with -A, what "
                              "other namespaces use is missing",
                              printable(*pods.use.namespaces.begin()))};
  }
  return pods;
}

void read_version(const Capture& capture, Inventory& inventory) {
  inventory.tool = "kubectl get nodes -o json";
  const CapturedOutput* output = capture.find(kVersion);
  if (!output) return;
  inventory.tool = "kube-apiserver";
  const auto version = parse_json(output->out, kVersion);
  if (output->exit_code != 0 || !version || !version->is_object()) {
    inventory.unread.push_back({"version", refusal(*output)});
    return;
  }
  std::string_view text = text_or(*version, "gitVersion", "");
  if (text.starts_with('v')) text.remove_prefix(1);
  inventory.tool_version = text;
}

void sort_nodes(std::vector<Node>& nodes) {
  std::ranges::sort(nodes, {}, &Node::name);
  const auto twice = std::ranges::adjacent_find(nodes, {}, &Node::name);
  if (twice != nodes.end())
    throw Unreadable(fmt::format("node {} is listed twice", printable(twice->name)));
}

Inventory read(const Capture& capture) {
  Inventory inventory;
  inventory.kind = ClusterKind::kubernetes;
  read_version(capture, inventory);
  simdjson::ondemand::parser parser;
  Pods pods = read_pods(parser, capture);
  const kubernetes::PodUse* use = pods.unread ? nullptr : &pods.use;
  if (pods.unread) inventory.unread.push_back(std::move(*pods.unread));
  if (pods.doubt) inventory.unread.push_back(std::move(*pods.doubt));

  auto lists = pages(capture, kNodes);
  if (lists.empty()) lists = pages(capture, kMixed);
  if (lists.empty()) throw Unreadable("no answer to GET /api/v1/nodes among what was read");
  bool more = false;
  for (const CapturedOutput* list : lists) {
    if (list->exit_code != 0) throw Unreadable(fmt::format("{}: {}", list->name, refusal(*list)));
    more = false;
    kubernetes::walk_list(
        parser, *list,
        [&](simdjson::ondemand::object item) {
          if (auto node = kubernetes::read_node(item, use))
            inventory.nodes.push_back(std::move(*node));
        },
        more);
  }
  if (inventory.nodes.empty() && capture.transport == "file")
    throw Unreadable(fmt::format("{}: the list names no node", lists.front()->name));
  if (more) inventory.unread.push_back({"nodes", "the list goes on after what was read"});
  sort_nodes(inventory.nodes);
  kubernetes::add_dynamic_resources(capture, inventory);
  return inventory;
}

struct KindOfList {
  std::string_view kind;
  std::string_view question;
};
constexpr KindOfList kKinds[] = {
    {"NodeList", kNodes},
    {"Node", kNodes},
    {"Status", kNodes},  // a refusal, given as a file: its sentence becomes the error
    {"PodList", kPods},
    {"ResourceSliceList", kubernetes::kSlices},
    {"ResourceClaimList", kubernetes::kClaims},
};

// What the items of a kubectl List are; empty when it holds something else.
std::string_view kinds_in_list(std::string_view text) {
  const auto kinds = kubernetes::item_kinds(text);
  const bool nodes = kinds.contains("Node"), pods = kinds.contains("Pod");
  if (kinds.empty()) return kNodes;  // of nothing: refused with that as the reason
  if (nodes && pods && kinds.size() == 2) return kMixed;
  if (kinds.size() != 1) return {};
  if (nodes) return kNodes;
  if (pods) return kPods;
  if (kinds.contains("ResourceSlice")) return kubernetes::kSlices;
  if (kinds.contains("ResourceClaim")) return kubernetes::kClaims;
  return {};
}

}  // namespace

Result<Inventory> read_kubernetes(const Capture& capture) {
  try {
    return read(capture);
  } catch (const Unreadable& problem) {
    return fail(Code::unreadable_output, problem.what());
  } catch (const simdjson::simdjson_error& problem) {
    return fail(Code::unreadable_output,
                fmt::format("the JSON cannot be read: {}", problem.what()));
  }
}

std::optional<std::string> recognise_kubernetes(std::string_view text) {
  const auto shape = kubernetes::shape_of(text);
  if (!shape || shape->api_version.empty()) return std::nullopt;
  if (shape->kind == "List") {
    const std::string_view question = kinds_in_list(text);
    return question.empty() ? std::nullopt : std::optional(std::string(question));
  }
  for (const KindOfList& row : kKinds)
    if (row.kind == shape->kind) return std::string(row.question);
  return std::nullopt;
}

}  // namespace exa
