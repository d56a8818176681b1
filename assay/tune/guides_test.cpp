#include "assay/tune/guides.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::tune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr network::Width kGooglenet{58, 22};  // W = 2.64, so 3 pools

GuideInput situation_on(const std::string& machine) {
  return {resources_of(platform::topology_from_synthetic(machine), {}), kGooglenet, {Allocator::tcmalloc}};
}

/// "instances x inter_op / intra_op / library_threads", with - for what is left alone.
std::string counts(const Settings& s) {
  const auto text = [](const std::optional<std::int64_t>& n) { return n ? std::to_string(*n) : "-"; };
  return text(s.instances) + " x " + text(s.inter_op) + " / " + text(s.intra_op) + " / " + text(s.library_threads);
}

Settings settings_of(const std::string& guide, const GuideInput& situation) {
  for (const auto& one : advice(situation)) {
    if (one.guide == guide) return one.settings;
  }
  ADD_FAILURE() << "no guide " << guide;
  return {};
}

struct Machine {
  const char* what;
  const char* description;
  const char* tf_eigen;
  const char* tf_mkl;
  const char* intel;
  const char* paper;
  const char* xeon_latency;
  const char* xeon_throughput;
  const char* mxnet;
};

// By hand, from the rules: S sockets, c cores of each, C = S c, T threads, N nodes; 3 pools for W = 58/22.
constexpr Machine kMachines[] = {
    // S=1 c=2 C=2 T=2 N=1: floor(2/3) is no thread, so 1; fewer than 4 cores are one instance of what there is
    {"1x2", "pack:1 core:2 pu:1", "- x 2 / 2 / -", "- x 1 / 2 / 2", "1 x 1 / 2 / 2", "- x 3 / 1 / 1", "1 x - / - / 2",
     "1 x - / - / 2", "- x - / - / 1"},
    // S=1 c=24 C=24 T=24 N=1
    {"1x24", "pack:1 core:24 pu:1", "- x 24 / 24 / -", "- x 1 / 24 / 24", "1 x 1 / 24 / 24", "- x 3 / 8 / 8",
     "6 x - / - / 4", "1 x - / - / 24", "- x - / - / 12"},
    // S=2 c=24 C=48 T=48 N=2
    {"2x24", "pack:2 [numa] core:24 pu:1", "- x 48 / 48 / -", "- x 2 / 48 / 48", "2 x 2 / 24 / 24", "- x 3 / 16 / 16",
     "12 x - / - / 4", "2 x - / - / 24", "- x - / - / 24"},
    // S=2 c=48 C=96 T=192 N=2
    {"2x48 with SMT", "pack:2 [numa] core:48 pu:2", "- x 96 / 96 / -", "- x 2 / 96 / 96", "2 x 2 / 48 / 48",
     "- x 3 / 32 / 32", "24 x - / - / 4", "2 x - / - / 48", "- x - / - / 96"},
    // S=4 c=16 C=64 T=64 N=4
    {"4x16", "pack:4 [numa] core:16 pu:1", "- x 64 / 64 / -", "- x 4 / 64 / 64", "4 x 4 / 16 / 16", "- x 3 / 21 / 21",
     "16 x - / - / 4", "4 x - / - / 16", "- x - / - / 32"},
    // S=2 c=32 C=64 T=128 N=8
    {"8 NUMA nodes", "pack:2 die:4 [numa] core:8 pu:2", "- x 64 / 64 / -", "- x 2 / 64 / 64", "8 x 2 / 32 / 8",
     "- x 3 / 21 / 21", "16 x - / - / 4", "8 x - / - / 8", "- x - / - / 64"},
};

TEST(Guides, resolve_to_the_tables_derived_by_hand) {
  for (const auto& machine : kMachines) {
    SCOPED_TRACE(machine.what);
    const auto situation = situation_on(machine.description);
    EXPECT_EQ(counts(settings_of("framework-default", situation)), "- x - / - / -");
    EXPECT_EQ(counts(settings_of("tf-guide-eigen", situation)), machine.tf_eigen);
    EXPECT_EQ(counts(settings_of("tf-guide-mkl", situation)), machine.tf_mkl);
    EXPECT_EQ(counts(settings_of("intel-guide", situation)), machine.intel);
    EXPECT_EQ(counts(settings_of("paper", situation)), machine.paper);
    EXPECT_EQ(counts(settings_of("xeon-latency", situation)), machine.xeon_latency);
    EXPECT_EQ(counts(settings_of("xeon-throughput", situation)), machine.xeon_throughput);
    EXPECT_EQ(counts(settings_of("mxnet-guide", situation)), machine.mxnet);
    EXPECT_EQ(counts(settings_of("ort-default", situation)), "- x - / - / -");
    EXPECT_EQ(counts(settings_of("openvino-latency", situation)), "- x - / - / -");
    EXPECT_EQ(counts(settings_of("openvino-throughput", situation)), "- x - / - / -");
  }
}

TEST(Guides, set_variables_bindings_and_allocators) {
  const auto situation = situation_on("pack:2 [numa] core:24 pu:2");
  const std::string affinity = "granularity=fine,compact,1,0";
  const std::map<std::string, std::string> none;
  EXPECT_EQ(settings_of("tf-guide-eigen", situation).env, none);
  const auto env = [&](const char* guide) { return settings_of(guide, situation).env; };
  using Env = std::map<std::string, std::string>;
  EXPECT_EQ(env("tf-guide-mkl"), (Env{{"KMP_AFFINITY", affinity}, {"KMP_BLOCKTIME", "0"}}));
  EXPECT_EQ(env("intel-guide"), (Env{{"KMP_AFFINITY", affinity}, {"KMP_BLOCKTIME", "1"}}));
  EXPECT_EQ(env("paper"), (Env{{"KMP_AFFINITY", affinity}, {"KMP_BLOCKTIME", "30"}}));
  EXPECT_EQ(env("mxnet-guide"), (Env{{"KMP_AFFINITY", affinity}}));
  for (const char* guide : {"intel-guide", "xeon-latency", "xeon-throughput"}) {
    EXPECT_EQ(settings_of(guide, situation).affinity, Affinity::compact) << guide;
    EXPECT_EQ(settings_of(guide, situation).memory_bind, MemoryBind::local) << guide;
  }
  EXPECT_EQ(settings_of("xeon-latency", situation).allocator, Allocator::tcmalloc);
  auto other = situation;
  other.allocators = {Allocator::jemalloc};
  EXPECT_EQ(settings_of("xeon-throughput", other).allocator, Allocator::jemalloc);
  EXPECT_FALSE(settings_of("intel-guide", situation).allocator);
}

TEST(Guides, round_the_width_and_take_an_unknown_one_for_a_chain) {
  auto situation = situation_on("pack:1 core:24 pu:1");
  situation.width = network::Width{54, 50};  // ResNet-50: 1.08
  EXPECT_EQ(counts(settings_of("paper", situation)), "- x 1 / 24 / 24");
  situation.width.reset();
  EXPECT_EQ(counts(settings_of("paper", situation)), "- x 1 / 24 / 24");
  situation.width = network::Width{5, 2};  // 2.5 rounds up
  EXPECT_EQ(counts(settings_of("paper", situation)), "- x 3 / 8 / 8");
}

plan::WorkerInfo worker_with(std::vector<std::string> settings) {
  plan::WorkerInfo worker;
  worker.name = "tensorflow";
  worker.settings = std::move(settings);
  return worker;
}

Baseline baseline(const std::string& name, const plan::WorkerInfo& worker, const GuideInput& situation) {
  for (auto& one : baselines(worker, situation)) {
    if (one.name == name) return one;
  }
  ADD_FAILURE() << "no baseline " << name;
  return {};
}

TEST(Baselines, say_what_does_nothing_and_leave_it_out) {
  auto worker = worker_with({"inter_op", "intra_op"});
  worker.inert = {{"library_threads", "no OpenMP"}};
  worker.unread = {{"KMP_BLOCKTIME", "nothing reads it"}, {"KMP_AFFINITY", "nothing reads it"}};
  const auto one = baseline("tf-guide-mkl", worker, situation_on("pack:1 core:24 pu:1"));
  EXPECT_EQ(counts(one.settings), "- x 1 / 24 / -");
  EXPECT_THAT(one.settings.env, IsEmpty());
  EXPECT_THAT(one.inert, ElementsAre("library_threads=24: no OpenMP",
                                     "KMP_AFFINITY=granularity=fine,compact,1,0: nothing reads it",
                                     "KMP_BLOCKTIME=0: nothing reads it"));
}

TEST(Baselines, keep_variables_that_are_read) {
  const auto one =
      baseline("paper", worker_with({"inter_op", "intra_op", "library_threads"}), situation_on("pack:1 core:24 pu:1"));
  EXPECT_EQ(one.settings.env.at("KMP_BLOCKTIME"), "30");
  EXPECT_THAT(one.inert, IsEmpty());
}

TEST(Baselines, threads_of_openmp_are_those_of_an_operator_where_both_are_settings) {
  // Intel's guide on 8 nodes gives intra_op 32 and OpenMP 8: OpenMP computes there.
  const auto one = baseline("intel-guide", worker_with({"intra_op", "library_threads"}),
                            situation_on("pack:2 die:4 [numa] core:8 pu:2"));
  EXPECT_EQ(counts(one.settings), "8 x - / 8 / -");
  EXPECT_THAT(one.inert, ElementsAre(HasSubstr("inter_op=2")));
}

TEST(Baselines, are_those_about_the_worker) {
  auto worker = worker_with({"intra_op", "library_threads"});
  worker.name = "mxnet";
  std::vector<std::string> names;
  for (const auto& one : baselines(worker, situation_on("pack:1 core:2 pu:1"))) names.push_back(one.name);
  EXPECT_THAT(names, ElementsAre("framework-default", "intel-guide", "paper", "xeon-latency", "xeon-throughput",
                                 "mxnet-guide"));
}

TEST(Baselines, bind_nothing_where_there_is_no_choice) {
  auto situation = situation_on("pack:1 core:2 pu:1");
  situation.allocators.clear();
  const auto one = baseline("xeon-throughput", worker_with({"intra_op", "library_threads"}), situation);
  EXPECT_FALSE(one.settings.instances);
  EXPECT_FALSE(one.settings.affinity);
  EXPECT_FALSE(one.settings.memory_bind);
  EXPECT_FALSE(one.settings.allocator);
  EXPECT_THAT(one.inert, ElementsAre("allocator: neither tcmalloc nor jemalloc is installed"));
}

TEST(Rule, is_explained_for_network_machine_and_worker) {
  auto worker = worker_with({"intra_op"});
  worker.inert = {{"inter_op", "one operator after the other"}};
  auto situation = situation_on("pack:2 [numa] core:24 pu:1");
  situation.resources.quota = 4;
  const auto text = explain_rule(worker, situation);
  EXPECT_THAT(text, HasSubstr("58 heavy operators"));
  EXPECT_THAT(text, HasSubstr("longest chain of them is 22"));
  EXPECT_THAT(text, HasSubstr("inter_op = 3"));
  EXPECT_THAT(text, HasSubstr("intra_op = 16"));
  EXPECT_THAT(text, HasSubstr("inter_op does nothing: one operator after the other"));
  EXPECT_THAT(text, HasSubstr("quota of 4 CPUs"));
}

}  // namespace
}  // namespace assay::tune
