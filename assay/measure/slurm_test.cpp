#include "assay/measure/slurm.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "assay/core/error.hpp"

namespace assay::measure {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

SlurmArray example() {
  SlurmArray array;
  array.id = "0123456789abcdef";
  array.agents = 8;
  array.nodes = 2;
  array.logs = "/home/u/50% logs";
  array.agent = {"/opt/assay", "agent", "--store", "@/home/u/it's mine", "--campaign", "ab"};
  array.environment = {{"ASSAY_ENVIRONMENTS", "/shared/$HOME"}};
  return array;
}

TEST(Slurm, TheScriptIsTheAgentAndNoWordOfItIsTheShellsOwn) {
  EXPECT_EQ(slurm_script(example()),
            "#!/bin/sh\n"
            "export ASSAY_ENVIRONMENTS='/shared/$HOME'\n"
            "exec '/opt/assay' 'agent' '--store' '@/home/u/it'\\''s mine' '--campaign' 'ab'\n");
}

TEST(Slurm, JobsAreKnownByOurIdAndNeverStartedTwice) {
  auto array = example();
  array.options = {{"partition", "main"}, {"exclusive", ""}};
  const auto words = sbatch_words(array);
  for (const char* word :
       {"--job-name=assay-0123456789abcdef", "--array=0-7", "--nodes=2", "--no-requeue", "--export=NONE",
        "--output=/home/u/50%% logs/0123456789abcdef-%a.log", "--partition=main", "--exclusive"}) {
    EXPECT_THAT(words, Contains(word));
  }
  for (const auto& word : words) EXPECT_THAT(word, Not(HasSubstr("mine"))) << "the script is not an argument";
}

TEST(Slurm, OptionsThatWouldUndoThisAreRefused) {
  for (const char* name :
       {"requeue", "export", "array", "job-name", "wrap", "-p", "p", "par tition", "", "Partition"}) {
    auto array = example();
    array.options = {{name, "x"}};
    EXPECT_THROW(sbatch_words(array), Error) << name;
  }
}

/// Stands before Slurm's own programs: each of these is what the given shell line does.
class OtherPrograms {
 public:
  explicit OtherPrograms(const std::string& line)
      : folder_(testing::TempDir() + "slurm_test_" + std::to_string(getpid())), path_(std::getenv("PATH")) {
    std::filesystem::create_directories(folder_);
    for (const char* name : {"sbatch", "squeue"}) {
      const auto file = folder_ / name;
      std::ofstream(file) << "#!/bin/sh\n" << line << "\n";
      std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    }
    setenv("PATH", (folder_.string() + ":" + path_).c_str(), 1);
  }
  ~OtherPrograms() {
    setenv("PATH", path_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }
  OtherPrograms(const OtherPrograms&) = delete;
  OtherPrograms& operator=(const OtherPrograms&) = delete;

 private:
  std::filesystem::path folder_;
  std::string path_;
};

std::string refusal_of_sbatch(std::chrono::seconds patience) {
  try {
    return "taken as job " + submit(example(), patience);
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Slurm, ProgramsThatDoNotAnswerAreEnded) {
  const OtherPrograms hang("exec sleep 1000");
  EXPECT_THAT(refusal_of_sbatch(std::chrono::seconds(1)),
              HasSubstr("sbatch: it did not answer within 1 s. The plan is "));
  EXPECT_FALSE(slurm_jobs("0123456789abcdef", std::chrono::seconds(1)));
}

TEST(Slurm, WhatSbatchSaysIsPassedOn) {
  {
    const OtherPrograms refuse("echo no such partition >&2; exit 1");
    EXPECT_THAT(refusal_of_sbatch(kSlurmPatience), HasSubstr("sbatch: no such partition. The plan is "));
  }
  const OtherPrograms take("cat >/dev/null; echo '17;cluster'");
  EXPECT_EQ(refusal_of_sbatch(kSlurmPatience), "taken as job 17");
}

TEST(Slurm, CountsJobsByTheirState) {
  const auto jobs =
      read_slurm_jobs("RUNNING|None\nPENDING|Resources\nPENDING|Priority\nCOMPLETING|None\nFAILED|x\nodd\n");
  EXPECT_EQ(jobs.running, 2);
  EXPECT_EQ(jobs.pending, 2);
  EXPECT_EQ(jobs.why_pending, "Resources");
  EXPECT_EQ(read_slurm_jobs("").pending, 0);
}

}  // namespace
}  // namespace assay::measure
