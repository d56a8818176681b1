#include "assay/store/spool.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "assay/core/text/file.hpp"
#include "assay/store/records/record_row.hpp"
#include "assay/store/store.hpp"

namespace assay::store {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSpoolVersion = 1;
constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr const char* kSuffix = ".json";
constexpr const char* kOldKind = "finished";  // of an artifact, in the spool of Assay 0.1

/// What complete() needs. The trial itself is not part of it: its id is.
json to_spool(const std::string& store, const Lease& lease, const std::vector<Finished>& finished) {
  json runs = json::array();
  for (std::size_t i = 0; i < lease.runs.size(); ++i) {
    const auto& run = lease.runs[i];
    runs.push_back({{"run", run.run},
                    {"epoch", run.epoch},
                    {"pair", run.pair ? to_json(*run.pair) : json()},
                    {"again", finished[i].again},
                    {"record", to_json(finished[i].record)}});
  }
  return {{"spool_version", kSpoolVersion},
          {"store", store},
          {"campaign", lease.campaign},
          {"claim", lease.claim},
          {"runs", std::move(runs)}};
}

Spool::Result from_spool(const json& kept) {
  Spool::Result result;
  if (kept.at("spool_version").get<std::int64_t>() > kSpoolVersion) {
    fail(ErrorKind::bad_input, "a newer Assay wrote it; update Assay to deliver it");
  }
  result.store = kept.at("store").get<std::string>();
  result.lease.campaign = kept.at("campaign").get<std::string>();
  result.lease.claim = kept.at("claim").get<std::string>();
  for (const auto& one : kept.at("runs")) {
    auto record = from_json<Record>(one.at("record"), "record");
    LeasedRun run;
    run.run = one.at("run").get<std::int64_t>();
    run.epoch = one.at("epoch").get<std::int64_t>();
    run.attempt = record.attempt;
    run.index = record.index;
    run.trial_id = record.trial;
    if (!one.at("pair").is_null()) run.pair = from_json<Pair>(one.at("pair"), "pair");
    result.lease.runs.push_back(run);
    result.finished.push_back({std::move(record), one.at("again").get<bool>()});
  }
  return result;
}

/// A claim is part of a file's name: nothing else may be.
bool is_plain(const std::string& text) {
  return !text.empty() && text.size() <= 64 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == ' '; });
}

fs::path folder_beside(const fs::path& place) {
  std::error_code ignored;
  return fs::is_regular_file(place, ignored) ? fs::path(place.string() + ".results") : place;
}

fs::path old_spool_of(const fs::path& place) {
  std::error_code ignored;
  return fs::is_regular_file(place, ignored) ? place : fs::path(place.string() + ".db");
}

}  // namespace

bool may_pass(const Error& error) {
  return error.kind() == ErrorKind::away || error.kind() == ErrorKind::no_space ||
         error.kind() == ErrorKind::not_durable;
}

Spool::Spool(const fs::path& place) : folder_(folder_beside(place)), old_(old_spool_of(place)) {}

fs::path Spool::file_of(const std::string& store, const std::string& claim) const {
  return folder_ / (store + "-" + claim + kSuffix);
}

void Spool::write(const std::string& store, const std::string& claim, const json& result) {
  ASSAY_CHECK(is_plain(store) && is_plain(claim));
  if (mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) file_failed(errno, "make the spool", folder_.string());
  write_durably(file_of(store, claim), json_text(result));
}

void Spool::keep(const std::string& store, const Lease& lease, const std::vector<Finished>& finished) {
  write(store, lease.claim, to_spool(store, lease, finished));
}

void Spool::forget(const std::string& store, const std::string& claim) {
  std::error_code ignored;  // another agent may have delivered it; and what stays is recognised as repeated
  fs::remove(file_of(store, claim), ignored);
}

std::vector<std::string> Spool::waiting_for(const std::string& store) const {
  std::vector<std::string> claims;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    const auto name = it->path().filename().string();
    if (!name.ends_with(kSuffix) || !name.starts_with(store + "-")) continue;
    claims.push_back(name.substr(store.size() + 1, name.size() - store.size() - 1 - std::string(kSuffix).size()));
  }
  std::sort(claims.begin(), claims.end());
  return claims;
}

std::int64_t Spool::waiting_for_others(const std::string& store) const {
  std::int64_t count = 0;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    const auto name = it->path().filename().string();
    count += name.ends_with(kSuffix) && !name.starts_with(store + "-") ? 1 : 0;
  }
  return count;
}

Spool::Result Spool::read(const std::string& store, const std::string& claim) const {
  const auto file = file_of(store, claim);
  const auto text = read_file(file, kMostBytes);
  try {
    return from_spool(parse_json(text, {.bytes = kMostBytes, .depth = 256, .values = 200'000'000}));
  } catch (const json::exception& error) {
    fail(ErrorKind::bad_input, "{}: it is not a finished result: {}", file.string(), error.what());
  }
}

void Spool::take_over(const std::string& store) {
  std::error_code ignored;
  if (!fs::exists(old_, ignored)) return;
  const auto spool = open_store(old_.string(), Access::write);
  for (const auto& kept : spool->artifacts(kOldKind)) {
    json result = kept.content;
    // A run that version 1 of a store had leased is claimed by its epoch.
    const auto claim = fmt::format("epoch {}", result.at("runs").at(0).at("epoch").get<std::int64_t>());
    result["spool_version"] = kSpoolVersion;
    result["store"] = store;
    result["claim"] = claim;
    const auto run = result.at("runs").at(0).at("run").get<std::int64_t>();
    write(store, fmt::format("{} of {}", claim, run), result);
    spool->remove_artifact(kOldKind, kept.inputs_hash);
  }
  fs::remove(old_, ignored);
}

SpooledQueue::SpooledQueue(RunQueue& queue, const fs::path& spool) : queue_(queue), spool_(spool) {}

std::string SpooledQueue::uuid() {
  if (uuid_.empty()) uuid_ = queue_.uuid();
  return uuid_;
}

std::int64_t SpooledQueue::waiting() {
  return static_cast<std::int64_t>(spool_.waiting_for(uuid()).size() + unsaved_.size());
}

std::string SpooledQueue::note() {
  if (uuid_.empty()) return "";
  const auto kept = spool_.waiting_for(uuid_).size();
  std::string out;
  if (kept > 0) {
    out =
        fmt::format(" {} finished result{} kept in {}: the same command, or any agent of this user here, delivers {}.",
                    kept, kept == 1 ? " is" : "s are", spool_.folder().string(), kept == 1 ? "it" : "them");
  }
  if (!unsaved_.empty()) {
    out += fmt::format(" {} finished result{} in memory only: neither the store nor {} can be written.",
                       unsaved_.size(), unsaved_.size() == 1 ? " is" : "s are", spool_.folder().string());
  }
  if (rescued_ > 0) {
    out += fmt::format(" {} finished result{} kept in {}, since {} cannot be written: --spool {} delivers {}.",
                       rescued_, rescued_ == 1 ? " is" : "s are", rescued_to_.string(), spool_.folder().string(),
                       rescued_to_.string(), rescued_ == 1 ? "it" : "them");
  }
  return out;
}

void SpooledQueue::rescue(const std::vector<fs::path>& folders) {
  for (const auto& folder : folders) {
    if (unsaved_.empty()) return;
    try {
      Spool elsewhere(folder);
      for (const auto& one : unsaved_) elsewhere.keep(uuid(), one.lease, one.finished);
    } catch (const FileError&) {
      continue;
    }
    rescued_ += unsaved_.size();
    rescued_to_ = folder;
    unsaved_.clear();
  }
}

std::int64_t SpooledQueue::deliver_unsaved() {
  std::int64_t taken = 0;
  for (auto one = unsaved_.begin(); one != unsaved_.end();) {
    if (refused_.count(one->lease.claim) != 0) {
      ++one;
      continue;
    }
    if (queue_.complete(one->lease, one->finished) == Completion::accepted) ++taken;
    one = unsaved_.erase(one);
  }
  return taken;
}

std::int64_t SpooledQueue::deliver() {
  std::int64_t taken = deliver_unsaved();
  spool_.take_over(uuid());
  for (const auto& claim : spool_.waiting_for(uuid())) {
    if (refused_.count(claim) != 0) continue;
    try {
      const auto result = spool_.read(uuid(), claim);
      if (queue_.complete(result.lease, result.finished) == Completion::accepted) ++taken;
    } catch (const FileError&) {
      continue;  // another agent delivered it meanwhile
    } catch (const Error& error) {
      if (may_pass(error)) throw;
      refused_.insert(claim);  // a right that was taken away: one result must not stop all others
      continue;
    }
    spool_.forget(uuid(), claim);
  }
  pending_ = false;
  return taken;
}

std::optional<Lease> SpooledQueue::lease(const LeaseRequest& request) {
  if (pending_) deliver();
  return queue_.lease(request);
}

/// False where the disk does not take the result.
bool SpooledQueue::keep(const Lease& lease, const std::vector<Finished>& finished) {
  try {
    spool_.keep(uuid(), lease, finished);
    return true;
  } catch (const FileError&) {
    return false;
  }
}

Completion SpooledQueue::complete(const Lease& lease, const std::vector<Finished>& finished) {
  const bool kept = keep(lease, finished);
  try {
    const auto answer = queue_.complete(lease, finished);
    spool_.forget(uuid(), lease.claim);
    return answer;
  } catch (const Error& error) {
    if (!kept) unsaved_.push_back({lease, finished});
    if (!may_pass(error)) {
      refused_.insert(lease.claim);
      throw Error(error.kind(), error.what() + note());
    }
  }
  pending_ = true;
  return Completion::kept;
}

void SpooledQueue::release(const Lease& lease) {
  try {
    queue_.release(lease);
  } catch (const Error& error) {
    if (!may_pass(error)) throw;
  }
}

}  // namespace assay::store
