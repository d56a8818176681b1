#include "assay/tune/apply/launch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/core/workloads/scenario.hpp"

namespace assay::tune {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

/// A machine of `cores` cores in one socket, all of them ours.
Host host_of(std::int64_t cores) {
  Host host;
  for (std::int64_t i = 0; i < cores; ++i) host.cpus.push_back(i);
  host.topology = [cores] { return platform::topology_from_synthetic(fmt::format("pack:1 core:{} pu:1", cores)); };
  host.find_allocator = [](Allocator) { return "/lib/liballocator.so"; };
  return host;
}

Tuning tuning_for(std::int64_t cores) {
  Tuning tuning;
  tuning.name = "mine";
  tuning.worker = {"pytorch", "2.13.0"};
  tuning.resources.cores = tuning.resources.threads = cores;
  tuning.launch = {{"intra_op", {{{"OMP_NUM_THREADS", "{value}"}}, "", ""}},
                   {"inter_op", {{}, "pools({value})", "torch"}},
                   {"spin=false", {{{"OMP_WAIT_POLICY", "passive"}}, "", ""}}};
  return tuning;
}

TEST(Launch, instances_share_the_cpus_out) {
  auto tuning = tuning_for(4);
  tuning.settings.instances = 2;
  tuning.settings.affinity = Affinity::compact;
  const auto plan = plan_launch(tuning, host_of(4), {});
  EXPECT_THAT(plan.cpus, ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  tuning.settings.affinity = Affinity::spread;  // cards dealt out
  EXPECT_THAT(plan_launch(tuning, host_of(4), {}).cpus, ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
}

TEST(Launch, without_affinity_nothing_is_pinned) {
  auto tuning = tuning_for(4);
  tuning.settings.instances = 2;
  EXPECT_THAT(plan_launch(tuning, host_of(4), {}).cpus, ElementsAre(IsEmpty(), IsEmpty()));
}

TEST(Launch, one_instance_has_all_cpus_without_reading_the_topology) {
  auto tuning = tuning_for(3);
  tuning.settings.affinity = Affinity::compact;
  auto host = host_of(3);
  host.topology = []() -> platform::Topology { throw std::runtime_error("it was read"); };
  EXPECT_THAT(plan_launch(tuning, host, {}).cpus, ElementsAre(ElementsAre(0, 1, 2)));
}

TEST(Launch, a_quota_below_the_cpus_means_that_others_run_there_too) {
  auto host = host_of(8);
  EXPECT_TRUE(is_exclusive(host));
  host.quota = 8;  // a cpuset with a quota that fills it, as Kubernetes gives whole CPUs
  EXPECT_TRUE(is_exclusive(host));
  host.quota = 7.5;
  EXPECT_FALSE(is_exclusive(host));
}

TEST(Launch, under_a_quota_counts_are_set_and_nothing_is_pinned_or_spins) {
  auto tuning = tuning_for(4);
  tuning.settings.instances = 2;
  tuning.settings.intra_op = 2;
  tuning.settings.affinity = Affinity::compact;
  tuning.settings.spin = true;
  auto host = host_of(8);
  host.quota = 4;
  const auto plan = plan_launch(tuning, host, {});
  EXPECT_THAT(plan.cpus, ElementsAre(IsEmpty(), IsEmpty()));
  EXPECT_THAT(plan.env, ElementsAre(Pair("OMP_NUM_THREADS", "2"), Pair("OMP_WAIT_POLICY", "passive")));
  EXPECT_THAT(plan.warnings, Contains(HasSubstr("not pinned, because a quota of 4 CPUs shares 8 CPUs out")));
}

TEST(Launch, another_number_of_usable_cpus_is_refused) {
  try {
    plan_launch(tuning_for(8), host_of(4), {});
    FAIL() << "it was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("for 8 usable CPUs"));
    EXPECT_THAT(error.what(), HasSubstr("here are 4"));
    EXPECT_THAT(error.what(), HasSubstr("--rescale"));
  }
}

TEST(Launch, or_scaled_where_that_is_wished) {
  auto tuning = tuning_for(8);
  tuning.settings.instances = 4;
  tuning.settings.intra_op = 2;
  tuning.settings.affinity = Affinity::compact;
  const auto plan = plan_launch(tuning, host_of(4), {.program = {}, .rescale = true, .inject = {}});
  EXPECT_THAT(plan.cpus, ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(plan.env, ElementsAre(Pair("OMP_NUM_THREADS", "2")));
  EXPECT_THAT(plan.warnings, Contains(HasSubstr("scaled from 8 to 4 cores")));
}

TEST(Launch, a_tuning_found_under_a_quota_fits_as_many_cpus) {
  auto tuning = tuning_for(8);
  tuning.resources.quota = 4;
  EXPECT_NO_THROW(plan_launch(tuning, host_of(4), {}));
}

TEST(Launch, an_allocator_stands_before_what_is_preloaded_already) {
  auto tuning = tuning_for(1);
  tuning.settings.allocator = Allocator::jemalloc;
  auto host = host_of(1);
  host.environment = {{"LD_PRELOAD", "/lib/users.so"}};
  EXPECT_THAT(plan_launch(tuning, host, {}).env, ElementsAre(Pair("LD_PRELOAD", "/lib/liballocator.so:/lib/users.so")));
  host.find_allocator = [](Allocator) { return std::nullopt; };
  const auto without = plan_launch(tuning, host, {});
  EXPECT_THAT(without.env, IsEmpty());
  EXPECT_THAT(without.warnings, ElementsAre(HasSubstr("libjemalloc2")));
}

TEST(Launch, variables_of_the_user_that_had_another_value_are_named) {
  auto tuning = tuning_for(1);
  tuning.settings.intra_op = 1;
  tuning.settings.env = {{"SAME", "x"}};
  auto host = host_of(1);
  host.environment = {{"OMP_NUM_THREADS", "8"}, {"SAME", "x"}, {"OTHER", "y"}};
  EXPECT_THAT(plan_launch(tuning, host, {}).replaced, ElementsAre("OMP_NUM_THREADS=8"));
}

TEST(Launch, a_line_of_code_is_told_or_injected) {
  auto tuning = tuning_for(1);
  tuning.settings.inter_op = 2;
  auto host = host_of(1);
  host.environment = {{"PYTHONPATH", "/users"}};
  const auto told = plan_launch(tuning, host, {});
  EXPECT_EQ(told.code.size(), 1U);
  EXPECT_THAT(told.env, IsEmpty());
  const auto injected = plan_launch(tuning, host, {.program = {}, .rescale = false, .inject = "/hooks"});
  EXPECT_THAT(injected.code, IsEmpty());
  EXPECT_EQ(parse_json(injected.env.at(kInjectVariable)), parse_json(R"({"torch": {"inter_op": 2}})"));
  EXPECT_EQ(injected.env.at("PYTHONPATH"), "/hooks:/users");
}

TEST(Launch, places_in_arguments_are_filled_wherever_they_stand) {
  LaunchPlan plan;
  plan.settings.intra_op = 3;
  EXPECT_THAT(arguments_of(plan, {"run", "--port=80{instance}", "{threads}{threads}", "{batch}"}, 2),
              ElementsAre("run", "--port=802", "33", "{batch}"));
  plan.settings.intra_op.reset();
  EXPECT_THAT(arguments_of(plan, {"{threads}"}, 0), ElementsAre("{threads}"));
}

TEST(Launch, the_queue_of_a_rate_is_told_or_taken_as_arguments) {
  auto tuning = tuning_for(1);
  tuning.workload.batch = 16;
  auto& load = tuning.workload.load.emplace();
  load.server = kInProcess;
  load.api = "server";
  load.limit = TailLimit{99, 0.05};
  load.batch_wait_seconds = 0.0025;
  const auto told = plan_launch(tuning, host_of(1), {.program = {"serve", "{batch}"}, .rescale = false, .inject = {}});
  EXPECT_THAT(told.warnings, ElementsAre(HasSubstr("batch limit 16, batch wait 2500 us: the queue is part of")));
  EXPECT_THAT(arguments_of(told, {"{batch}", "{batch_wait_us}"}, 0), ElementsAre("16", "2500"));
  const LaunchWishes both{.program = {"serve", "{batch}", "{batch_wait_us}"}, .rescale = false, .inject = {}};
  EXPECT_THAT(plan_launch(tuning, host_of(1), both).warnings, IsEmpty());
}

}  // namespace
}  // namespace assay::tune
