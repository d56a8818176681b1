#include "assay/store/records/record_row.hpp"

#include <algorithm>

#include "assay/core/text/hash.hpp"

namespace assay::store {
namespace {

/// Shorter than this a value costs less in place than a reference to it.
constexpr std::size_t kWorthSharing = 64;

/// Fields that are columns of record, run, trial or campaign.
constexpr std::array kColumns{"campaign", "trial", "index",       "attempt",     "counted", "summary",
                              "platform", "pair",  "started_utc", "duration_ns", "writer"};

/// {"inline": small members, "content": {member: hash}} of an object whose members repeat from run to run.
json share(const json& object, std::map<std::string, std::string>& contents) {
  if (!object.is_object()) return {{"inline", object}};
  json kept = json::object();
  json shared = json::object();
  for (const auto& [name, value] : object.items()) {
    auto text = json_text(value);
    if (text.size() < kWorthSharing) {
      kept[name] = value;
      continue;
    }
    const auto hash = hash_hex(text);
    contents.emplace(hash, std::move(text));
    shared[name] = hash;
  }
  json out = {{"inline", std::move(kept)}};
  if (!shared.empty()) out["content"] = std::move(shared);
  return out;
}

json unshare(const json& folded, const ContentLookup& content) {
  json out = folded.at("inline");
  const auto shared = folded.find("content");
  if (shared == folded.end()) return out;
  for (const auto& [name, hash] : shared->items()) out[name] = content(hash.get<std::string>());
  return out;
}

json fold_rank(const RankResult& rank, RecordBody& body) {
  json whole = to_json(rank);
  json shared = {{"versions", std::move(whole["versions"])}, {"effective", std::move(whole["effective"])}};
  for (const char* field : {"versions", "effective", "samples_ns"}) whole.erase(field);
  json out = without_nulls(whole);
  out["shared"] = share(shared, body.contents);
  out["samples"] = rank.samples_ns.size();
  return out;
}

/// Gives every rank its share of the samples.
void deal_samples(const json& ranks, const std::string& samples, Record& record) {
  constexpr std::size_t kBytes = sizeof(std::int64_t);
  std::size_t at = 0;
  for (std::size_t i = 0; i < record.ranks.size(); ++i) {
    const auto count = ranks[i].at("samples").get<std::size_t>();
    if (count > (samples.size() - at) / kBytes) break;
    record.ranks[i].samples_ns = unpack_samples(samples.data() + at, count * kBytes);
    at += count * kBytes;
  }
  if (at != samples.size()) {
    fail(ErrorKind::bad_input, "record of trial {} index {}: its samples do not fit their counts", record.trial,
         record.index);
  }
}

}  // namespace

std::string json_text(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json parse_column(const std::string& text) {
  // Wider than for text from outside: a record nests what came from there, and holds a value per layer and step.
  return parse_json(text, {.bytes = std::size_t{1} << 30, .depth = 256, .values = 200'000'000});
}

json without_nulls(const json& value) {
  if (value.is_object()) {
    json out = json::object();
    for (const auto& [name, member] : value.items()) {
      if (!member.is_null()) out[name] = without_nulls(member);
    }
    return out;
  }
  if (value.is_array() && !value.empty() && value.front().is_structured()) {
    json out = json::array();
    for (const auto& item : value) out.push_back(without_nulls(item));
    return out;
  }
  return value;
}

std::string as_utf8(const std::string& text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return text;
  return json::parse(json_text(text)).get<std::string>();
}

RecordBody fold(const Record& record) {
  RecordBody body;
  json ranks = json::array();
  for (const auto& rank : record.ranks) {
    body.samples += pack_samples(rank.samples_ns);
    ranks.push_back(fold_rank(rank, body));
  }
  const auto digest = digest_of(record);
  body.peak_memory_bytes = digest.peak_memory_bytes;
  body.digest = json_text(without_nulls(to_json(digest)));

  Record head = record;
  head.ranks.clear();
  json whole = to_json(head);
  for (const char* column : kColumns) whole.erase(column);
  whole["outcome"].erase("kind");
  whole["outcome"].erase("message");
  whole["validity"].erase("trusted");
  whole.erase("state");
  json out = without_nulls(whole);
  out["state"] = share(record.state, body.contents);
  out["ranks"] = std::move(ranks);
  body.json = json_text(out);
  return body;
}

void unfold(const std::string& text, const std::string& samples, const ContentLookup& content, Record& record) {
  json body = parse_column(text);
  const json known = to_json(record);
  for (const char* column : kColumns) body[column] = known.at(column);
  body["outcome"]["kind"] = known.at("outcome").at("kind");
  body["outcome"]["message"] = known.at("outcome").at("message");
  body["validity"]["trusted"] = known.at("validity").at("trusted");
  body["state"] = unshare(body.at("state"), content);
  for (auto& rank : body.at("ranks")) {
    const json shared = unshare(rank.at("shared"), content);
    rank["versions"] = shared.at("versions");
    rank["effective"] = shared.at("effective");
  }
  record = from_json<Record>(body, "record");
  if (record.record_version > kRecordVersion) {
    fail(ErrorKind::bad_input, "record_version {} is newer than this program knows ({}). Update Assay.",
         record.record_version, kRecordVersion);
  }
  deal_samples(body.at("ranks"), samples, record);
}

}  // namespace assay::store
