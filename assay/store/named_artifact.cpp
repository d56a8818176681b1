#include "assay/store/named_artifact.hpp"

#include "assay/core/text/utf8.hpp"
#include "assay/store/store.hpp"

namespace assay::store {

bool names_a_file(const std::string& named) {
  return named.ends_with(".json") || named.find('/') != std::string::npos;
}

json named_artifact(const std::string& store, const std::string& name, const WantedArtifact& wanted) {
  auto artifacts = open_store(store, Access::read)->artifacts(wanted.kind);
  std::string names;
  for (auto one = artifacts.rbegin(); one != artifacts.rend(); ++one) {
    const auto found = one->content.value("name", "");
    if (found == name) return std::move(one->content);
    names += (names.empty() ? "" : ", ") + printable(found, 60);
  }
  fail(ErrorKind::usage, "{} {}: {} has no {} of that name. {}", wanted.flag, shown(name), shown_location(store),
       wanted.kind, names.empty() ? std::string(wanted.advice) : "There is " + names + ".");
}

}  // namespace assay::store
