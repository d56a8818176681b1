#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace assay {

/// The items of a list such as "a, b", without the blanks around them. The empty list has one empty item.
inline std::vector<std::string_view> items_of(std::string_view list) {
  std::vector<std::string_view> items;
  while (true) {
    const auto end = std::min(list.find(','), list.size());
    auto item = list.substr(0, end);
    while (item.starts_with(' ') || item.starts_with('\t')) item.remove_prefix(1);
    while (item.ends_with(' ') || item.ends_with('\t')) item.remove_suffix(1);
    items.push_back(item);
    if (end == list.size()) return items;
    list.remove_prefix(end + 1);
  }
}

}  // namespace assay
