#include <algorithm>

#include "assay/model/link_source.hpp"
#include "assay/model/link_sources/lines.hpp"

namespace assay::model {
namespace {

constexpr std::size_t kNeededColumns = 4;

void check_first_line(const SourceLine& line) {
  const std::vector<std::string_view> wanted{"collective", "ranks", "bytes", "seconds", "run"};
  const auto& words = line.words;
  if (words.size() >= kNeededColumns && words.size() <= wanted.size() &&
      std::equal(words.begin(), words.end(), wanted.begin()))
    return;
  line.reject("the first line must be 'collective,ranks,bytes,seconds' or that with ',run', not {}",
              shown(std::string(line.text)));
}

Collective collective_named(const SourceLine& line) {
  const auto& names = EnumNames<Collective>::names;
  const auto found = std::find(names.begin(), names.end(), line.words[0]);
  if (found == names.end()) {
    line.reject("{} is not a collective. Collectives: {}", shown(std::string(line.words[0])),
                mapping::enum_choices(names.data(), names.size()));
  }
  return static_cast<Collective>(found - names.begin());
}

std::vector<LinkPoint> read_csv(std::string_view text, const LinkRequest& request) {
  std::vector<LinkPoint> points;
  const auto lines = source_lines(text, request.name, ',');
  for (const auto& line : lines) {
    if (&line == &lines.front()) {
      check_first_line(line);
      continue;
    }
    if (line.text.empty()) continue;
    const auto columns = lines.front().words.size();
    if (line.words.size() != columns) line.reject("{} columns, and the first line has {}", line.words.size(), columns);
    LinkPoint point{collective_named(line), line.ranks(1), line.size(2), line.time(3, 1), request.name};
    if (columns > kNeededColumns) point.run += "#" + std::string(line.words[kNeededColumns]);
    points.push_back(std::move(point));
  }
  return points;
}

bool is_csv(std::string_view text) {
  return text.starts_with("collective,");
}

}  // namespace

const LinkSource link_sources::csv{"csv", "a first line 'collective,…'", is_csv, read_csv};

}  // namespace assay::model
