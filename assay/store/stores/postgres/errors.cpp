#include "assay/store/stores/postgres/errors.hpp"

#include <algorithm>
#include <array>

namespace assay::store::postgres {
namespace {

/// What a state says; `state` is the whole of it or its first letters. The first that fits holds.
struct Meaning {
  const char* state;
  ErrorKind kind;
  const char* what;
};

constexpr const char* kNoAnswer =
    "the server does not answer; see whether it runs and can be reached, then run the same command again: nothing "
    "finished is lost";
constexpr const char* kNoRight = "42501";
constexpr const char* kNotTaken = "the server does not take this data; please report it with this message";

constexpr std::array kMeanings{
    Meaning{"08", ErrorKind::away, kNoAnswer},
    Meaning{"57P", ErrorKind::away, kNoAnswer},
    Meaning{"57", ErrorKind::away,
            "the server ended the statement; see whether a statement_timeout is too short, then run the same command "
            "again"},
    Meaning{"53100", ErrorKind::away,
            "the disk that holds the store is full; free space there, then run the same command again: nothing "
            "finished is lost"},
    Meaning{"53300", ErrorKind::away,
            "the server has no connection left; raise its max_connections or put pgbouncer before it"},
    Meaning{"53", ErrorKind::away, "the server lacks memory or another resource; look at its log"},
    Meaning{"55", ErrorKind::away, "the server does not serve this database at the moment; look at its log"},
    Meaning{"58", ErrorKind::away, "the server's disk or files fail; look at its log and the health of its disk"},
    Meaning{"XX", ErrorKind::away, "the server fails; look at its log and the health of its disk"},
    Meaning{"25006", ErrorKind::away,
            "the server that answered takes no writes: it is a standby, or set to read only. Name every server in the "
            "URL, as in postgresql://USER@HOST1,HOST2/DATABASE?target_session_attrs=read-write"},
    Meaning{"40", ErrorKind::away, "others change the same rows at the same time; run the same command again"},
    Meaning{kNoRight, ErrorKind::failure, "this role may not do that; its owner gives rights with `assay store allow`"},
    Meaning{"42704", ErrorKind::usage, "the server has no such role; make it with CREATE ROLE"},
    Meaning{"P0002", ErrorKind::usage, "there is no such campaign; `assay show --all` lists them"},
    Meaning{"22", ErrorKind::failure, kNotTaken},
    Meaning{"23", ErrorKind::failure, kNotTaken},
    Meaning{"42601", ErrorKind::failure, kNotTaken},
    Meaning{"54", ErrorKind::failure, kNotTaken},
    Meaning{"P0", ErrorKind::failure, kNotTaken},
};
constexpr Meaning kUnknown{"", ErrorKind::away, "the store did not do what was asked; look at the server's log"};
constexpr Meaning kSilence{"", ErrorKind::away, kNoAnswer};
constexpr const char* kRefused = "the server refuses the connection; check user, password and database";

/// The user, the password, the database or the right to connect to it is wrong.
bool is_refusal(const std::string& state) {
  return state.starts_with("28") || state == "3D000";
}

Meaning meaning_of(const std::string& state, bool has_worked) {
  if (state.empty()) return kSilence;
  if (is_refusal(state)) return {"", has_worked ? ErrorKind::away : ErrorKind::failure, kRefused};
  const auto* const found = std::find_if(kMeanings.begin(), kMeanings.end(),
                                         [&](const Meaning& meaning) { return state.starts_with(meaning.state); });
  return found == kMeanings.end() ? kUnknown : *found;
}

std::string no_right(const std::string& role) {
  return fmt::format(
      "role {} may not do that. The owner of the store gives it a right with `assay store allow agent {}` or `assay "
      "store allow reader {}`; a role that it is a member of will do",
      role, role, role);
}

bool is_state(const std::string& text, std::size_t at) {
  return at + 6 < text.size() && text[at + 5] == ':' &&
         std::all_of(text.begin() + at, text.begin() + at + 5,
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); });
}

}  // namespace

Error error_for(const std::string& state, const std::string& text, const Circumstances& circumstances) {
  const auto meaning = meaning_of(state, circumstances.has_worked);
  const auto& role = circumstances.role;
  const auto what = state == kNoRight && !role.empty() ? no_right(role) : meaning.what;
  return {meaning.kind, fmt::format("{}: {} (while {}; PostgreSQL: {}{}{}).", circumstances.store, what,
                                    circumstances.doing, in_one_line(text), state.empty() ? "" : ", state ", state)};
}

bool is_collision(const std::string& state) {
  return state == "40001" || state == "40P01";
}

bool needs_new_connection(const std::string& state) {
  return state.empty() || state.starts_with("08") || state.starts_with("57P") || state.starts_with("25");
}

std::string in_one_line(std::string text) {
  for (auto& c : text) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return text;
}

std::string state_in(const std::string& text) {
  // Each host that was tried has a line; the last one counts: "connection to server … failed: FATAL:  28P01: …".
  constexpr const char* kFailed = " failed: ";
  const auto last = text.rfind(kFailed);
  for (auto at = text.find(":  ", last == std::string::npos ? 0 : last); at != std::string::npos;
       at = text.find(":  ", at + 1)) {
    if (is_state(text, at + 3)) return text.substr(at + 3, 5);
  }
  return "";
}

}  // namespace assay::store::postgres
