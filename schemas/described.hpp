#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "assay/core/text/json.hpp"

namespace schemas {

/// Keeps the order of fields, as describe() has it.
using Ordered = nlohmann::ordered_json;

/// What describe() says of structs, by the structs' names: {"fields": {NAME: {"schema", "default"}}, "required":
/// [NAME]}; only numbers, flags and text have a default. A schema refers to another struct as {"struct": NAME};
/// schemas/write makes a reference of it.
using Structs = Ordered;

/// "assay::Record"
template <typename T>
std::string type_name() {
  const std::string_view text = __PRETTY_FUNCTION__;
  const std::size_t begin = text.find("T = ") + 4;
  return std::string(text.substr(begin, text.find_first_of(";]", begin) - begin));
}

template <typename T>
Ordered schema_of(Structs& structs);

/// Walks a describe() and notes each field's type.
struct FieldVisitor {
  Structs& structs;
  Ordered described = {{"fields", Ordered::object()}, {"required", Ordered::array()}};

  template <typename T>
  void operator()(const char* field, T& value) {
    Ordered& noted = described["fields"][field];
    noted["schema"] = schema_of<T>(structs);
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) noted["default"] = value;
  }
};

/// What describe() calls for a field that must be there.
template <typename T>
void required(FieldVisitor& visitor, const char* field, T& value) {
  visitor(field, value);
  visitor.described["required"].push_back(field);
}

/// The same, or null.
inline Ordered nullable(Ordered schema) {
  if (schema.contains("struct")) return {{"anyOf", {std::move(schema), {{"type", "null"}}}}};
  if (schema.contains("enum")) schema["enum"].push_back(nullptr);
  if (schema.contains("type")) schema["type"] = {schema["type"], "null"};
  return schema;
}

template <typename E>
Ordered names_of_enum() {
  Ordered names = Ordered::array();
  for (const char* name : assay::EnumNames<E>::names) names.push_back(name);
  return names;
}

template <typename T>
Ordered struct_schema(Structs& structs) {
  const std::string name = type_name<T>();
  if (!structs.contains(name)) {
    structs[name] = nullptr;  // seen, for structs that hold themselves
    T value;
    FieldVisitor visitor{structs};
    describe(visitor, value);
    structs[name] = std::move(visitor.described);
  }
  return {{"struct", name}};
}

/// JSON Schema of what to_json() writes for a T.
template <typename T>
Ordered schema_of(Structs& structs) {
  using namespace assay::mapping;
  if constexpr (is_optional<T>::value) {
    return nullable(schema_of<typename T::value_type>(structs));
  } else if constexpr (is_vector<T>::value) {
    return {{"type", "array"}, {"items", schema_of<typename T::value_type>(structs)}};
  } else if constexpr (is_map<T>::value) {
    return {{"type", "object"}, {"additionalProperties", schema_of<typename T::mapped_type>(structs)}};
  } else if constexpr (is_enum_map<T>::value) {
    return {{"type", "object"},
            {"propertyNames", {{"enum", names_of_enum<typename T::key_type>()}}},
            {"additionalProperties", schema_of<typename T::mapped_type>(structs)}};
  } else if constexpr (std::is_same_v<T, assay::Scalar>) {
    return {{"type", {"boolean", "number", "string"}}};
  } else if constexpr (std::is_same_v<T, assay::json>) {
    return Ordered::object();
  } else if constexpr (std::is_enum_v<T>) {
    return {{"enum", names_of_enum<T>()}};
  } else if constexpr (std::is_same_v<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::is_unsigned_v<T>) {
    return {{"type", "integer"}, {"minimum", 0}};
  } else if constexpr (std::is_integral_v<T>) {
    return {{"type", "integer"}};
  } else if constexpr (std::is_floating_point_v<T>) {
    return {{"type", "number"}};
  } else if constexpr (std::is_same_v<T, std::string>) {
    return {{"type", "string"}};
  } else {
    return struct_schema<T>(structs);
  }
}

}  // namespace schemas
