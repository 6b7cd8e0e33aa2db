#include "place/chart.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace exa {
namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 440;
constexpr double kLeft = 64;
constexpr double kRight = 150;  // room for the names at the ends of the lines
constexpr double kTop = 56;
constexpr double kBottom = 56;
constexpr double kNameHeight = 15;

struct Line {
  std::string policy;
  std::map<int64_t, double> allocated;  // percent, by percent arrived
  double last() const { return allocated.empty() ? 0 : allocated.rbegin()->second; }
};

// In the order in which the policies first appear.
std::vector<Line> lines_of(std::span<const Simulation> runs) {
  std::vector<Line> lines;
  std::vector<std::map<int64_t, int64_t>> counts;
  for (const Simulation& run : runs) {
    auto line = std::ranges::find(lines, run.policy, &Line::policy);
    if (line == lines.end()) {
      line = lines.insert(lines.end(), {run.policy, {}});
      counts.emplace_back();
    }
    auto& count = counts[static_cast<size_t>(line - lines.begin())];
    for (const SimulationMark& mark : run.marks) {
      line->allocated[mark.arrived_percent] += mark.allocated_gpu_percent;
      ++count[mark.arrived_percent];
    }
  }
  for (size_t i = 0; i < lines.size(); ++i)
    for (auto& [arrived, sum] : lines[i].allocated)
      sum /= static_cast<double>(counts[i].at(arrived));
  return lines;
}

// The part of the picture where policies differ: from ten points below the worst end.
struct Axes {
  double low = 0;  // of both axes: nothing is allocated before it has arrived
  double high_x = 100;

  double x(double arrived) const {
    return kLeft + (arrived - low) / (high_x - low) * (kWidth - kLeft - kRight);
  }
  double y(double allocated) const {
    return kHeight - kBottom - (allocated - low) / (100 - low) * (kHeight - kTop - kBottom);
  }
};

Axes axes_of(std::span<const Line> lines) {
  Axes axes;
  if (lines.empty()) return axes;
  double worst = 100;
  for (const Line& line : lines) {
    worst = std::min(worst, line.last());
    if (!line.allocated.empty())
      axes.high_x = std::max(axes.high_x, static_cast<double>(line.allocated.rbegin()->first));
  }
  axes.low = std::clamp(std::floor((worst - 10) / 10) * 10, 0.0, 90.0);
  return axes;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out;
}

constexpr std::string_view kStyle = R"(<style>
svg { --ink: #1b1f24; --quiet: #57606a; --rule: #d0d7de; --ground: #ffffff;
  --l0: #0b5fb0; --l1: #b3420a; --l2: #1a7f37; --l3: #7d3fb5; --l4: #8a6100; --l5: #b0246f; --l6: #4d5560;
  background: var(--ground); font: 13px system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { svg { --ink: #e6edf3; --quiet: #9aa4af; --rule: #30363d; --ground: #0d1117;
  --l0: #6cb6ff; --l1: #f0883e; --l2: #56d364; --l3: #c297ff; --l4: #e3b341; --l5: #ff80bf; --l6: #aab4bf; } }
text { fill: var(--ink); } .quiet { fill: var(--quiet); } .title { font-size: 16px; font-weight: 600; }
.rule { stroke: var(--rule); stroke-width: 1; } .line { fill: none; stroke-width: 2; }
</style>
)";

constexpr std::string_view kDashes[] = {"none", "8 4", "2 3", "10 3 2 3", "5 5", "14 4", "1 5"};

void add_grid(std::string& svg, const Axes& axes) {
  const int64_t low = std::lround(axes.low);  // a multiple of ten
  const int64_t step = low < 50 ? 20 : low < 80 ? 5 : 2;
  for (int64_t row = low; row <= 100; row += step) {
    const auto at = static_cast<double>(row);
    svg += fmt::format(
        "<line class=\"rule\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n", kLeft,
        kWidth - kRight, axes.y(at), axes.y(at));
    svg += fmt::format(
        "<text class=\"quiet\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:.0f}</text>\n",
        kLeft - 8, axes.y(at) + 4, at);
  }
  for (int64_t column = low; column <= std::lround(axes.high_x); column += 10) {
    const auto at = static_cast<double>(column);
    svg += fmt::format(
        "<line class=\"rule\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
        axes.x(at), axes.x(at), kHeight - kBottom, kHeight - kBottom + 5);
    svg += fmt::format(
        "<text class=\"quiet\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:.0f}</text>\n",
        axes.x(at), kHeight - kBottom + 20, at);
  }
  svg += fmt::format(
      "<text class=\"quiet\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">requested so far, % "
      "of all "
      "GPUs</text>\n",
      (kLeft + kWidth - kRight) / 2, kHeight - 14);
  svg += fmt::format(
      "<text class=\"quiet\" x=\"{:.1f}\" y=\"{:.1f}\">allocated, % of all GPUs</text>\n", kLeft,
      kTop - 12);
}

void add_line(std::string& svg, const Axes& axes, const Line& line, size_t number) {
  std::string points;
  for (const auto& [arrived, allocated] : line.allocated)
    if (static_cast<double>(arrived) >= axes.low && allocated >= axes.low - 1)
      points +=
          fmt::format("{}{:.1f} {:.1f}", points.empty() ? "M" : "L",
                      axes.x(static_cast<double>(arrived)), axes.y(std::max(allocated, axes.low)));
  svg +=
      fmt::format("<path class=\"line\" stroke=\"var(--l{})\" stroke-dasharray=\"{}\" d=\"{}\"/>\n",
                  number % 7, kDashes[number % std::size(kDashes)], points);
}

// Names stand at the ends of their lines, best first, moved apart where lines end close together.
void add_names(std::string& svg, const Axes& axes, std::span<const Line> lines) {
  std::vector<size_t> order(lines.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order,
                           [&](size_t a, size_t b) { return lines[a].last() > lines[b].last(); });
  double least = kTop - kNameHeight;
  for (const size_t i : order) {
    const double y = std::max(axes.y(lines[i].last()), least + kNameHeight);
    least = y;
    svg +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" style=\"fill: var(--l{})\">{} {:.1f}</text>\n",
                    kWidth - kRight + 8, y + 4, i % 7, escaped(lines[i].policy), lines[i].last());
  }
}

}  // namespace

std::string chart_of(std::span<const Simulation> runs) {
  const std::vector<Line> lines = lines_of(runs);
  const Axes axes = axes_of(lines);
  std::string summary;
  for (const Line& line : lines)
    summary += fmt::format("{}{} {:.1f} %", summary.empty() ? "" : ", ", escaped(line.policy),
                           line.last());
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"img\" aria-labelledby=\"title summary\">\n"
      "<title id=\"title\">How much of the fleet is given away?</title>\n"
      "<desc id=\"summary\">Allocated at the end: {2}</desc>\n",
      kWidth, kHeight, summary);
  svg += kStyle;
  svg += fmt::format(
      "<text class=\"title\" x=\"{:.1f}\" y=\"24\">How much of the fleet is given away?</text>\n",
      kLeft);
  add_grid(svg, axes);
  for (size_t i = 0; i < lines.size(); ++i) add_line(svg, axes, lines[i], i);
  add_names(svg, axes, lines);
  return svg + "</svg>\n";
}

}  // namespace exa
