#include "workers/command/template.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::command {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

worker::Prepare prepare_with(std::vector<std::string> argv) {
  worker::Prepare prepare;
  prepare.workload.network = "mine";
  prepare.workload.batch = 8;
  prepare.workload.command = std::move(argv);
  prepare.seed = 42;
  prepare.rank = 3;
  prepare.instance = 1;
  return prepare;
}

TEST(Template, ReplacesEveryPlaceholderInsideAnArgument) {
  auto prepare = prepare_with({"p", "--batch={batch}", "{mode}/{precision}", "{seed}{rank}{instance}", "{threads}",
                               "x{option:depth}y{option:name}"});
  prepare.settings.intra_op = 2;
  prepare.workload.options = {{"depth", std::int64_t{50}}, {"name", std::string("a b; $c")}};
  EXPECT_THAT(fill_template(prepare), ElementsAre("p", "--batch=8", "infer/fp32", "4231", "2", "x50ya b; $c"));
}

TEST(Template, DoubledBracesStandForOneAndClosingBracesForThemselves) {
  EXPECT_THAT(fill_template(prepare_with({"awk", "{{print $1}", "{{{batch}"})), ElementsAre("awk", "{print $1}", "{8"));
}

TEST(Template, AValueIsNotSearchedForPlaceholdersAgain) {
  auto prepare = prepare_with({"p", "{option:x}"});
  prepare.workload.options = {{"x", std::string("{batch}")}};
  EXPECT_THAT(fill_template(prepare), ElementsAre("p", "{batch}"));
}

TEST(Template, RefusesByName) {
  const auto refusal_of = [](const worker::Prepare& prepare) { return [prepare] { fill_template(prepare); }; };
  EXPECT_THAT(refusal_of(prepare_with({"p", "{banana}"})), ThrowsMessage<worker::Refused>(HasSubstr("{banana}")));
  EXPECT_THAT(refusal_of(prepare_with({"p", "{batch"})), ThrowsMessage<worker::Refused>(HasSubstr("'{batch'")));
  EXPECT_THAT(refusal_of(prepare_with({"p", "{option:n}"})), ThrowsMessage<worker::Refused>(HasSubstr("{option:n}")));
  EXPECT_THAT(refusal_of(prepare_with({"p", "{threads}"})), ThrowsMessage<worker::Refused>(HasSubstr("intra_op")));
  auto unused = prepare_with({"p"});
  unused.workload.options = {{"depth", std::int64_t{1}}};
  EXPECT_THAT(refusal_of(unused), ThrowsMessage<worker::Refused>(HasSubstr("'depth'")));
  auto idle = prepare_with({"p"});
  idle.settings.intra_op = 4;
  EXPECT_THAT(refusal_of(idle), ThrowsMessage<worker::Refused>(HasSubstr("intra_op")));
}

}  // namespace
}  // namespace assay::command
