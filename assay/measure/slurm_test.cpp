#include "assay/measure/slurm.hpp"

#include <gmock/gmock.h>

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
  for (const auto& word : words) EXPECT_THAT(word, Not(HasSubstr("mine"))) << "the script is no argument";
}

TEST(Slurm, OptionsThatWouldUndoThisAreRefused) {
  for (const char* name :
       {"requeue", "export", "array", "job-name", "wrap", "-p", "p", "par tition", "", "Partition"}) {
    auto array = example();
    array.options = {{name, "x"}};
    EXPECT_THROW(sbatch_words(array), Error) << name;
  }
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
