#include "assay/core/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using testing::HasSubstr;

std::string refusal(const Settings& settings) {
  try {
    check(settings);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "accepted";
}

std::string refusal_of_variable(const std::string& name, const std::string& value = "1") {
  Settings settings;
  settings.env[name] = value;
  return refusal(settings);
}

TEST(Settings, DefaultsAreAccepted) {
  EXPECT_EQ(refusal({}), "accepted");
}

TEST(Settings, AValueOutOfRangeIsRefusedByName) {
  Settings settings;
  settings.intra_op = 0;
  EXPECT_THAT(refusal(settings), HasSubstr("settings.intra_op: 0 "));
  settings.intra_op = 1;
  settings.loaders = 0;  // no loader process is a choice
  EXPECT_EQ(refusal(settings), "accepted");
  settings.bucket_bytes = -1;
  EXPECT_THAT(refusal(settings), HasSubstr("settings.bucket_bytes: -1 "));
}

TEST(Settings, AVariableThatLooksLikeASecretIsRefused) {
  for (const char* name :
       {"HF_TOKEN", "TOKEN", "github_token", "AWS_SESSION_TOKEN", "TOKEN_FILE", "PGPASSWORD", "CLIENT_SECRET",
        "AWS_ACCESS_KEY_ID", "WANDB_API_KEY", "DB_PASS", "MYSQL_PWD", "GITHUB_PAT", "SLURM_JWT"}) {
    EXPECT_THAT(refusal_of_variable(name), HasSubstr("looks like a secret")) << name;
  }
  for (const char* value : {"http://me:word@proxy:3128", "first,postgres://a:b@c/d"}) {
    EXPECT_THAT(refusal_of_variable("PROXY", value), HasSubstr("looks like a secret")) << value;
  }
}

TEST(Settings, AVariableThatOnlyContainsSuchLettersIsAccepted) {
  EXPECT_EQ(refusal_of_variable("TOKENIZERS_PARALLELISM"), "accepted");
  EXPECT_EQ(refusal_of_variable("MAX_TOKENS"), "accepted");
  EXPECT_EQ(refusal_of_variable("OMP_WAIT_POLICY"), "accepted");
  EXPECT_EQ(refusal_of_variable("PROXY", "http://proxy:3128/a@b"), "accepted");
  EXPECT_EQ(refusal_of_variable("PROXY", "http://me@proxy:3128"), "accepted");
}

TEST(Settings, AMalformedVariableIsRefused) {
  for (const char* name : {"", "1A", "A-B", "A=B", "A B", "Ä"})
    EXPECT_NE(refusal_of_variable(name), "accepted") << name;
  EXPECT_THAT(refusal_of_variable("A", std::string("x\0y", 3)), HasSubstr("zero byte"));
  EXPECT_THAT(refusal_of_variable("A", std::string(4097, 'x')), HasSubstr("4096"));
}

TEST(Settings, NamesOfAssayItselfAreRefused) {
  EXPECT_NE(refusal_of_variable("ASSAY_STORE"), "accepted");
  EXPECT_EQ(refusal_of_variable("ASSAY_FAKE_SLEEP"), "accepted");
}

TEST(Settings, TheTitleNamesOnlyWhatIsSet) {
  EXPECT_EQ(title(Settings{}), "default");
  Settings settings;
  settings.intra_op = 2;
  settings.affinity = Affinity::compact;
  settings.env["OMP_WAIT_POLICY"] = "passive";
  EXPECT_EQ(title(settings), "affinity=compact intra_op=2 OMP_WAIT_POLICY=passive");
}

}  // namespace
}  // namespace assay
