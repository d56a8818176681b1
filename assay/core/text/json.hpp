#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "assay/core/error.hpp"

namespace assay {

using nlohmann::json;

/// Bounds on text from outside. Breaking one is an Error, never a crash.
struct JsonLimits {
  std::size_t bytes = 4u << 20;    ///< length of the text
  std::size_t depth = 64;          ///< nested objects and arrays
  std::size_t values = 4'000'000;  ///< values in all
};

/// Parses strict JSON: UTF-8, one document, no duplicate keys, no NaN or infinity, within `limits`.
/// Throws Error{bad_input} that names the rule that was broken, and for bad syntax the byte.
json parse_json(std::string_view text, const JsonLimits& limits = {});

/// Canonical text of RFC 8785, with every null member of an object dropped, so that a field added later keeps old ids.
/// Throws Error{bad_input} for what RFC 8785 cannot write: an integer beyond 2^53, a number that is not finite, text
/// that is not UTF-8.
std::string canonical_json(const json& value);

// One mapping per struct. Each struct that travels as JSON has a
//   template <typename V> void describe(V& v, T& value) { v("field", value.field); … }
// which both the writer and the reader below walk, so that a field is named once.

/// Names of an enum's values, in order of the values; specialised next to each enum.
template <typename E>
struct EnumNames;

/// A JSON scalar chosen by the user, such as an option of a network.
using Scalar = std::variant<bool, std::int64_t, double, std::string>;

template <typename T>
json to_json_value(const T& value);
template <typename T>
void from_json_value(const json& value, const std::string& path, T& out);

namespace mapping {

template <typename T>
struct is_optional : std::false_type {};
template <typename T>
struct is_optional<std::optional<T>> : std::true_type {};
template <typename T>
struct is_vector : std::false_type {};
template <typename T>
struct is_vector<std::vector<T>> : std::true_type {};
template <typename T>
struct is_map : std::false_type {};
template <typename T>
struct is_map<std::map<std::string, T>> : std::true_type {};
template <typename T>
struct is_enum_map : std::false_type {};
template <typename E, typename T>
requires std::is_enum_v<E>
struct is_enum_map<std::map<E, T>> : std::true_type {
};

/// Throws Error{bad_input}: what was expected at `path` and what stood there.
[[noreturn]] void wrong_type(const std::string& path, const char* expected, const json& got);
[[noreturn]] void missing_field(const std::string& path, const char* field);
std::string enum_choices(const char* const* names, std::size_t count);
std::int64_t read_integer(const json& value, const std::string& path);
json scalar_to_json(const Scalar& value);
Scalar scalar_from_json(const json& value, const std::string& path);

struct Writer {
  json object = json::object();
  template <typename T>
  void operator()(const char* field, const T& value) {
    object[field] = to_json_value(value);
  }
};

struct Reader {
  const json& object;
  const std::string& path;
  template <typename T>
  void operator()(const char* field, T& value) {
    const auto it = object.find(field);
    if (it == object.end() || it->is_null()) {
      // An absent optional is null; an absent field with a default keeps it.
      if constexpr (is_optional<T>::value) value.reset();
      return;
    }
    from_json_value(*it, path.empty() ? field : path + "." + field, value);
  }
  /// A field that must be there.
  template <typename T>
  void required(const char* field, T& value) {
    const auto it = object.find(field);
    if (it == object.end() || it->is_null()) missing_field(path, field);
    from_json_value(*it, path.empty() ? field : path + "." + field, value);
  }
};

}  // namespace mapping

/// Marks a field as required when reading; writes it like any other.
template <typename V, typename T>
void required(V& visitor, const char* field, T& value) {
  if constexpr (std::is_same_v<V, mapping::Reader>) {
    visitor.required(field, value);
  } else {
    visitor(field, value);
  }
}

template <typename T>
json to_json_value(const T& value) {
  using namespace mapping;
  if constexpr (is_optional<T>::value) {
    return value ? to_json_value(*value) : json(nullptr);
  } else if constexpr (is_vector<T>::value) {
    json out = json::array();
    for (const auto& item : value) out.push_back(to_json_value(item));
    return out;
  } else if constexpr (is_map<T>::value) {
    json out = json::object();
    for (const auto& [key, item] : value) out[key] = to_json_value(item);
    return out;
  } else if constexpr (is_enum_map<T>::value) {
    json out = json::object();
    for (const auto& [key, item] : value) out[to_json_value(key).template get<std::string>()] = to_json_value(item);
    return out;
  } else if constexpr (std::is_same_v<T, Scalar>) {
    return scalar_to_json(value);
  } else if constexpr (std::is_enum_v<T>) {
    return EnumNames<T>::names.at(static_cast<std::size_t>(value));
  } else if constexpr (std::is_same_v<T, json> || std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return value;
  } else {
    Writer writer;
    describe(writer, const_cast<T&>(value));  // a writer only reads
    return std::move(writer.object);
  }
}

template <typename T>
void from_json_value(const json& value, const std::string& path, T& out) {
  using namespace mapping;
  if constexpr (is_optional<T>::value) {
    from_json_value(value, path, out.emplace());
  } else if constexpr (is_vector<T>::value) {
    if (!value.is_array()) wrong_type(path, "a list", value);
    out.clear();
    out.reserve(value.size());
    for (std::size_t i = 0; i < value.size(); ++i) {
      from_json_value(value[i], path + "[" + std::to_string(i) + "]", out.emplace_back());
    }
  } else if constexpr (is_map<T>::value) {
    if (!value.is_object()) wrong_type(path, "an object", value);
    out.clear();
    for (const auto& [key, item] : value.items()) from_json_value(item, path + "." + key, out[key]);
  } else if constexpr (is_enum_map<T>::value) {
    if (!value.is_object()) wrong_type(path, "an object", value);
    out.clear();
    for (const auto& [name, item] : value.items()) {
      typename T::key_type key{};
      from_json_value(json(name), path, key);
      from_json_value(item, path + "." + name, out[key]);
    }
  } else if constexpr (std::is_same_v<T, Scalar>) {
    out = scalar_from_json(value, path);
  } else if constexpr (std::is_enum_v<T>) {
    const auto& names = EnumNames<T>::names;
    for (std::size_t i = 0; i < names.size() && value.is_string(); ++i) {
      if (value.get_ref<const std::string&>() == names[i]) {
        out = static_cast<T>(i);
        return;
      }
    }
    wrong_type(path, enum_choices(names.data(), names.size()).c_str(), value);
  } else if constexpr (std::is_same_v<T, json>) {
    out = value;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!value.is_boolean()) wrong_type(path, "true or false", value);
    out = value.get<bool>();
  } else if constexpr (std::is_integral_v<T>) {
    out = static_cast<T>(read_integer(value, path));
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!value.is_number()) wrong_type(path, "a number", value);
    out = value.get<T>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!value.is_string()) wrong_type(path, "text", value);
    out = value.get<std::string>();
  } else {
    if (!value.is_object()) wrong_type(path, "an object", value);
    Reader reader{value, path};
    describe(reader, out);
  }
}

/// Reads a T from JSON; `path` names the document in messages. Unknown fields are ignored.
template <typename T>
T from_json(const json& value, const std::string& path = "") {
  T out;
  from_json_value(value, path, out);
  return out;
}

/// Writes a T as JSON; absent values are null.
template <typename T>
json to_json(const T& value) {
  return to_json_value(value);
}

/// A value for a person: text as it is, anything else as JSON.
std::string plain_text(const json& value);

/// The name of an enum's value, as JSON, SQL and the command line spell it.
template <typename E>
requires std::is_enum_v<E>
const char* name_of(E value) {
  return EnumNames<E>::names.at(static_cast<std::size_t>(value));
}

}  // namespace assay
