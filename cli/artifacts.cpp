#include "cli/artifacts.hpp"

#include "assay/core/utf8.hpp"
#include "assay/store/store.hpp"

namespace assay::cli {

bool names_a_file(const std::string& named) {
  return named.ends_with(".json") || named.find('/') != std::string::npos;
}

json named_artifact(const std::string& store, const std::string& name, const WantedArtifact& wanted) {
  auto artifacts = store::open_store(store, store::Access::read)->artifacts(wanted.kind);
  std::string names;
  for (auto one = artifacts.rbegin(); one != artifacts.rend(); ++one) {
    const auto found = one->content.value("name", "");
    if (found == name) return std::move(one->content);
    names += (names.empty() ? "" : ", ") + printable(found, 60);
  }
  fail(ErrorKind::usage, "{} {}: {} has no {} of that name. {}", wanted.flag, shown(name), store::shown_location(store),
       wanted.kind, names.empty() ? std::string(wanted.advice) : "There is " + names + ".");
}

}  // namespace assay::cli
