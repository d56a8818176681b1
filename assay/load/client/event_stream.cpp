#include "assay/load/client/event_stream.hpp"

#include <algorithm>

namespace assay::load {

void EventStream::begin() {
  line_.clear();
  data_.clear();
  has_data_ = after_return_ = false;
}

/// Where the first line end is; the size if it has no line end.
std::size_t EventStream::line_end(std::string_view bytes) {
  return std::min(bytes.find_first_of("\r\n"), bytes.size());
}

bool EventStream::hold(std::string_view bytes) {
  if (line_.size() + bytes.size() > kMostEvent) return false;
  line_.append(bytes);
  return true;
}

/// A line that is not empty: only fields named data count here.
bool EventStream::end_line(std::string_view line) {
  if (line.size() > kMostEvent) return false;
  const auto colon = std::min(line.find(':'), line.size());
  if (line.substr(0, colon) != "data") return true;
  line.remove_prefix(std::min(colon + 1, line.size()));
  if (line.starts_with(' ')) line.remove_prefix(1);
  if (data_.size() + line.size() + 1 > kMostEvent) return false;
  if (has_data_) data_ += '\n';
  data_.append(line);
  has_data_ = true;
  return true;
}

}  // namespace assay::load
