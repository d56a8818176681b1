#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::plan {

/// A node of a YAML document that remembers where it stood.
struct Yaml {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  std::string text;         ///< of a scalar
  bool quoted = false;      ///< the scalar was quoted or a block: it is text
  std::string key;          ///< where the node is a member of a map
  int line = 0;             ///< from 1; of the value
  int column = 0;           ///< from 1, in bytes
  int key_line = 0;         ///< of the key, where there is one
  int key_column = 0;       ///< in bytes
  std::vector<Yaml> items;  ///< of a list or a map, in order

  /// The member of that key, or null.
  const Yaml* find(std::string_view member) const;
};

/// Bounds on a document, held before and while yaml-cpp reads it.
struct YamlLimits {
  std::size_t bytes = 1u << 20;
  std::size_t depth = 32;
  std::size_t nodes = 200'000;
};

/// Reads one document of a plain subset of YAML: no anchors, aliases or tags, no duplicate keys, UTF-8 without control
/// characters, scalars as keys. Throws Error{usage} with "file_name:line:column: " in front.
Yaml parse_yaml(std::string_view text, const std::string& file_name, const YamlLimits& limits = {});

}  // namespace assay::plan
