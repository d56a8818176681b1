#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"
#include "assay/core/text/number.hpp"
#include "assay/plan/located.hpp"
#include "assay/plan/text.hpp"
#include "assay/plan/yaml.hpp"

namespace assay::plan {

/// Reads the members of one map; knows where each stood.
class Section {
 public:
  /// Of the whole file, whose members are named by themselves, or of a member, whose name goes before theirs.
  enum class Depth { top, member };

  /// Throws LocatedError where `node` is not a map of known keys. Both must live as long as this.
  Section(const std::string& file, const Yaml& node, std::string what, const std::vector<std::string>& known,
          Depth depth = Depth::member)
      : file_(file), node_(node), what_(std::move(what)), depth_(depth) {
    if (node.kind != Yaml::Kind::map) {
      throw LocatedError(place(node), what_ + ": write keys with values here, such as " + known.front() + ": …");
    }
    for (const auto& item : node.items) {
      if (std::find(known.begin(), known.end(), item.key) != known.end()) continue;
      throw LocatedError(
          fmt::format("{}:{}:{}", file_, item.key_line, item.key_column),
          fmt::format("{}: the key {} is not known. {}", what_, shown(item.key), suggestion(item.key, known)));
    }
  }

  const Yaml* find(const char* key) const {
    const auto* found = node_.find(key);
    return found == nullptr || found->kind == Yaml::Kind::null ? nullptr : found;
  }

  const Yaml& need(const char* key, const char* example) const {
    if (const auto* found = find(key)) return *found;
    throw LocatedError(place(node_), fmt::format("{} needs {}. Add, for example: {}: {}", what_, key, key, example));
  }

  std::string place(const Yaml& node) const {
    return fmt::format("{}:{}:{}", file_, std::max(node.line, 1), std::max(node.column, 1));
  }

  std::string name_of(const char* key) const { return depth_ == Depth::top ? key : what_ + "." + key; }

  const std::string& text(const Yaml& node, const char* key) const {
    if (node.kind == Yaml::Kind::scalar) return node.text;
    throw LocatedError(place(node), name_of(key) + ": a single value belongs here.");
  }

  /// A quantity by one of the parsers of core/units.hpp.
  template <typename Parse>
  double quantity(const Yaml& node, const char* key, Parse parse) const {
    return located(place(node), [&] { return parse(text(node, key), name_of(key)); });
  }

  double number(const Yaml& node, const char* key, double least, double most) const {
    const auto& written = text(node, key);
    const auto value = parse_number<double>(written);
    if (value && *value >= least && *value <= most) return *value;
    throw LocatedError(place(node),
                       fmt::format("{}: {} is not a number from {} to {}.", name_of(key), shown(written), least, most));
  }

  std::int64_t count(const Yaml& node, const char* key, std::int64_t most) const {
    const double value = number(node, key, 1, static_cast<double>(most));
    if (value == static_cast<double>(static_cast<std::int64_t>(value))) return static_cast<std::int64_t>(value);
    throw LocatedError(place(node), fmt::format("{}: {} is not a whole number.", name_of(key), shown(node.text)));
  }

  template <typename Enum>
  Enum choice(const Yaml& node, const char* key, const std::vector<std::string>& allowed) const {
    const auto& written = text(node, key);
    const auto& names = EnumNames<Enum>::names;
    const auto found = std::find(names.begin(), names.end(), written);
    if (found != names.end() && std::find(allowed.begin(), allowed.end(), written) != allowed.end()) {
      return static_cast<Enum>(found - names.begin());
    }
    throw LocatedError(place(node), fmt::format("{}: {} is not known. {}", name_of(key), shown(written),
                                                suggestion(written, allowed)));
  }

 private:
  const std::string& file_;
  const Yaml& node_;
  std::string what_;
  Depth depth_;
};

}  // namespace assay::plan
