#include "workers/common/answer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay::worker {
namespace {

constexpr std::size_t kReservedBytes = 64u << 20;
constexpr std::size_t kWantedLineBytes = 1u << 20;  // far below kMostLineBytes: a reader's buffer stays small
constexpr std::size_t kMostDigits = 20;             // of an int64 and its comma

void append_column(std::string& line, const Samples& samples, std::size_t column, std::size_t from, std::size_t to) {
  line += '[';
  for (std::size_t row = from; row < to; ++row) {
    if (row > from) line += ',';
    const fmt::format_int number(samples.at(row, column));
    line.append(number.data(), number.size());
  }
  line += ']';
}

/// ,"tokens":[[…],[…]]: a list for each row.
void append_tokens(std::string& line, const Samples& samples, std::size_t tokens, std::size_t from, std::size_t to) {
  line += R"(,"tokens":[)";
  for (std::size_t row = from; row < to; ++row) {
    line += row > from ? ",[" : "[";
    for (std::size_t token = 0; token < tokens; ++token) {
      if (token > 0) line += ',';
      const fmt::format_int number(samples.at(row, 1 + token));
      line.append(number.data(), number.size());
    }
    line += ']';
  }
  line += ']';
}

}  // namespace

Samples::Samples(std::size_t columns, std::int64_t max_samples) : columns_(columns) {
  const std::size_t most = kReservedBytes / sizeof(std::int64_t) / columns;
  values_.reserve(columns * std::min(most, static_cast<std::size_t>(max_samples)));
}

void Samples::add(std::int64_t ns, const std::vector<std::int64_t>& first, const std::vector<std::int64_t>& second) {
  ASSAY_CHECK(1 + first.size() + second.size() == columns_);
  values_.push_back(ns);
  values_.insert(values_.end(), first.begin(), first.end());
  values_.insert(values_.end(), second.begin(), second.end());
}

void send_samples(Channel& channel, const Samples& samples, const std::vector<std::string>& phases,
                  std::size_t tokens) {
  const std::size_t rows_a_line =
      std::max<std::size_t>(1, kWantedLineBytes / (kMostDigits * (1 + phases.size() + tokens)));
  for (std::size_t from = 0; from < samples.rows(); from += rows_a_line) {
    const std::size_t to = std::min(samples.rows(), from + rows_a_line);
    std::string line = R"({"type":"samples","ns":)";
    append_column(line, samples, 0, from, to);
    for (std::size_t i = 0; i < phases.size(); ++i) {
      line += (i == 0 ? R"(,"phases":{)" : ",") + json(phases[i]).dump() + ':';
      append_column(line, samples, 1 + i, from, to);
    }
    if (!phases.empty()) line += '}';
    if (tokens > 0) append_tokens(line, samples, tokens, from, to);
    line += '}';
    channel.send(line);
  }
}

void send_layers(Channel& channel, const Samples& samples, const std::vector<std::string>& nodes, bool backward) {
  const std::string begin = R"({"type":"layers","layers":[)";
  std::string line = begin;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::string layer = R"({"node":)" + json(nodes[i]).dump() + R"(,"forward_ns":)";
    append_column(layer, samples, 1 + i, 0, samples.rows());
    layer += R"(,"backward_ns":)";
    append_column(layer, samples, 1 + nodes.size() + i, 0, backward ? samples.rows() : 0);
    layer += '}';
    if (line.size() > begin.size() && line.size() + layer.size() > kWantedLineBytes) {
      channel.send(line + "]}");
      line = begin;
    }
    if (line.size() > begin.size()) line += ',';
    line += layer;
  }
  channel.send(line + "]}");
}

}  // namespace assay::worker
