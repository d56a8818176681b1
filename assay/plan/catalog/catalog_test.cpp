#include "assay/plan/catalog/catalog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "assay/plan/plan_fixture.hpp"

namespace assay::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
namespace fs = std::filesystem;

template <typename Body>
std::string error_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

class CatalogFiles : public testing::Test {
 protected:
  CatalogFiles() : root_(fs::path(testing::TempDir()) / fmt::format("catalog-{}", getpid())) {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~CatalogFiles() override { fs::remove_all(root_); }

  void write(const std::string& folder, const std::string& text) {
    fs::create_directories(root_ / folder);
    std::ofstream(root_ / folder / "worker.json") << text;
  }

  static std::string worker(const std::string& name, const std::string& release, const std::string& description = "") {
    WorkerInfo info = fake_worker(release);
    info.name = name;
    info.description = description;
    return to_json(info).dump();
  }

  fs::path root_;
};

TEST(Release, digits_compare_as_numbers) {
  EXPECT_TRUE(older_release("1.9.0", "1.10.0"));
  EXPECT_FALSE(older_release("1.10.0", "1.9.0"));
  EXPECT_TRUE(older_release("1.0", "1.0.1"));
  EXPECT_FALSE(older_release("2.0.0", "2.0.0"));
  EXPECT_FALSE(older_release("1.01", "1.1"));
  EXPECT_FALSE(older_release("1.1", "1.01"));
}

TEST(Release, a_prerelease_is_older_and_a_build_is_newer) {
  EXPECT_TRUE(older_release("2.0.0rc1", "2.0.0"));
  EXPECT_TRUE(older_release("2.0.0-rc1", "2.0.0"));
  EXPECT_TRUE(older_release("2.0.0rc2", "2.0.0rc10"));
  EXPECT_TRUE(older_release("2.0.0", "2.0.0+cpu"));
  EXPECT_TRUE(older_release("2.0rc1", "2.0.1"));
  EXPECT_FALSE(older_release("2.0.0", "2.0.0rc1"));
}

TEST(Catalog, a_name_alone_is_the_newest_release) {
  EXPECT_EQ(test_catalog().find("fake").release, "1.10.0");
  EXPECT_EQ(test_catalog().find("fake==1.9.0").release, "1.9.0");
}

TEST(Catalog, an_unknown_worker_lists_what_there_is) {
  const Catalog catalog = test_catalog();
  EXPECT_THAT(error_of([&] { catalog.find("pytorch"); }),
              HasSubstr("'pytorch' is not at hand. There are: fake==1.0.0"));
  EXPECT_THAT(error_of([&] { catalog.find("fake==3"); }), HasSubstr("'fake==3' is not at hand in this release"));
  EXPECT_THAT(error_of([&] { catalog.find("fake=="); }), HasSubstr("not at hand"));
  EXPECT_THAT(error_of([&] { Catalog().find("fake"); }), HasSubstr("no worker is"));
  EXPECT_EQ(catalog.find(Worker{"fake", "3"}), nullptr);
}

TEST_F(CatalogFiles, workers_are_read_in_a_stable_order) {
  write("b", worker("b", "1"));
  write("a", worker("a", "1"));
  fs::create_directories(root_ / "empty");
  const Catalog catalog = Catalog::read({root_, root_ / "absent"}, "");
  EXPECT_THAT(catalog.problems(), IsEmpty());
  ASSERT_THAT(catalog.workers(), SizeIs(2));
  EXPECT_EQ(catalog.workers()[0].name, "a");
  EXPECT_EQ(catalog.workers()[0].folder, root_ / "a");
}

TEST_F(CatalogFiles, the_folder_listed_first_wins) {
  write("one/fake", worker("fake", "1", "first"));
  write("two/fake", worker("fake", "1", "second"));
  const Catalog catalog = Catalog::read({root_ / "one", root_ / "two"}, "");
  ASSERT_THAT(catalog.workers(), SizeIs(1));
  EXPECT_EQ(catalog.workers()[0].description, "first");
}

TEST_F(CatalogFiles, a_broken_worker_hides_no_other) {
  write("a-garbage", "{");
  write("b-bad-name", worker("../etc", "1"));
  write("c-newer", R"({"name": "x", "release": "1", "protocol": 2, "argv": ["x"], "networks": []})");
  write("d-no-argv", R"({"name": "x", "release": "1", "protocol": 1, "argv": [], "networks": []})");
  write("e-huge", std::string(2u << 20, ' '));
  write("f-missing", R"({"release": "1"})");
  write("g-fine", R"({"name": "x", "release": "1", "protocol": 1, "argv": ["x"], "networks": [], "later": 1})");
  fs::create_directories(root_ / "h-folder" / "worker.json");
  const Catalog catalog = Catalog::read({root_}, "");
  EXPECT_THAT(catalog.workers(), SizeIs(1));
  EXPECT_THAT(catalog.problems(), ElementsAre(HasSubstr("a-garbage"), HasSubstr("'../etc' cannot be used"),
                                              HasSubstr("speaks 2, this Assay speaks 1"),
                                              HasSubstr("argv: it is empty"), HasSubstr("longer than 1048576 bytes"),
                                              HasSubstr("'name' is missing"), HasSubstr("not a regular file")));
}

TEST(Catalog, the_folder_is_put_into_the_arguments) {
  WorkerInfo worker = fake_worker();
  worker.folder = "/opt/{folder}";
  worker.argv = {"{folder}/run", "--path={folder}:{folder}", "{batch}"};
  EXPECT_THAT(worker_argv(worker), ElementsAre("/opt/{folder}/run", "--path=/opt/{folder}:/opt/{folder}", "{batch}"));
}

Trial toy_trial() {
  Trial trial;
  trial.workload.network = "toy";
  trial.worker = {"fake", "1.0.0"};
  return trial;
}

std::string refusal(void (*change)(Trial&)) {
  Trial trial = toy_trial();
  change(trial);
  return error_of([&] { check_supported(fake_worker(), trial); });
}

TEST(Supported, every_part_of_a_trial_must_be_listed) {
  EXPECT_EQ(refusal([](Trial&) {}), "no error");
  EXPECT_THAT(refusal([](Trial& t) { t.workload.network = "vgg16"; }), HasSubstr("has no 'vgg16'. It has: toy."));
  EXPECT_THAT(refusal([](Trial& t) { t.workload.precision = "bf16"; }), HasSubstr("precision: "));
  EXPECT_THAT(refusal([](Trial& t) { t.placement.device = "cuda"; }), HasSubstr("placement.device: "));
  EXPECT_THAT(
      refusal([](Trial& t) { t.settings.inter_op = 1; }),
      HasSubstr("settings.inter_op: the worker fake 1.0.0 has no such setting. It has: intra_op, bucket_bytes."));
  EXPECT_THAT(refusal([](Trial& t) { t.workload.command = {"true"}; }), HasSubstr("only the worker 'command'"));
}

TEST(Supported, inert_settings_and_those_of_assay_are_allowed) {
  EXPECT_EQ(refusal([](Trial& t) { t.settings.spin = true; }), "no error");
  EXPECT_EQ(refusal([](Trial& t) {
              t.settings.instances = 2;
              t.settings.affinity = Affinity::compact;
              t.settings.memory_bind = MemoryBind::local;
              t.settings.allocator = Allocator::jemalloc;
              t.settings.env = {{"A", "1"}};
            }),
            "no error");
}

TEST(Supported, inert_settings_are_named_once_with_their_reason) {
  Trial trial = toy_trial();
  const Catalog catalog({fake_worker("1.0.0")});
  trial.worker = {"fake", "1.0.0"};
  trial.settings.intra_op = 2;
  EXPECT_TRUE(inert_settings(catalog, {trial}).empty());
  trial.settings.spin = false;
  EXPECT_THAT(inert_settings(catalog, {trial, trial}),
              testing::ElementsAre("spin does nothing on fake 1.0.0: there are no threads"));
}

TEST(Supported, a_mode_that_the_worker_lacks_is_refused) {
  WorkerInfo worker = fake_worker();
  worker.modes = {"infer"};
  Trial trial = toy_trial();
  trial.workload.mode = Mode::train;
  EXPECT_THAT(error_of([&] { check_supported(worker, trial); }), HasSubstr("has no 'train'. It has: infer."));
}

TEST(Supported, a_star_is_every_network_and_silence_restricts_nothing) {
  Trial trial = toy_trial();
  trial.workload.network = "anything";
  trial.workload.precision = "int4";
  trial.workload.command = {"true"};
  EXPECT_EQ(error_of([&] { check_supported(command_worker(), trial); }), "no error");
  trial.workload.command.reset();
  EXPECT_THAT(error_of([&] { check_supported(command_worker(), trial); }), HasSubstr("command: it is missing"));
}

TEST(Supported, input_from_elsewhere_is_refused_with_the_workers_that_take_it) {
  WorkerInfo reads = fake_worker();
  reads.name = "reads";
  reads.data = {"memory", "files"};
  const Catalog catalog({fake_worker("1.0.0"), reads});
  Workload workload = toy_trial().workload;
  EXPECT_EQ(error_of([&] { check_data(catalog, fake_worker(), workload); }), "no error");
  workload.data = "files";
  EXPECT_EQ(error_of([&] { check_data(catalog, reads, workload); }), "no error");
  EXPECT_THAT(error_of([&] { check_data(catalog, fake_worker(), workload); }),
              HasSubstr("data: the worker fake 1.0.0 takes no input from 'files'. These do: reads."));
  workload.data = "disk";
  EXPECT_THAT(error_of([&] { check_data(catalog, reads, workload); }),
              HasSubstr("No worker at hand does: use memory."));
}

TEST(Supported, details_must_be_measurable) {
  Measure measure;
  EXPECT_EQ(error_of([&] { check_details(command_worker(), measure); }), "no error");
  measure.phases = true;
  EXPECT_EQ(error_of([&] { check_details(fake_worker(), measure); }), "no error");
  EXPECT_THAT(error_of([&] { check_details(command_worker(), measure); }),
              HasSubstr("cannot measure phases. It has: step."));
  measure.layers = true;
  EXPECT_THAT(error_of([&] { check_details(fake_worker(), measure); }), HasSubstr("cannot measure layers"));
}

class CatalogEnvironments : public CatalogFiles {
 protected:
  static std::string asking(const std::string& name, const std::string& release) {
    WorkerInfo info = fake_worker(release);
    info.name = name;
    info.environment = Environment{"torch", "requirements.txt"};
    info.argv = {"{environment}/bin/python", "{folder}/worker.py"};
    return to_json(info).dump();
  }

  void install(const std::string& folder, const std::string& text) {
    fs::create_directories(root_ / "environments" / folder);
    std::ofstream(root_ / "environments" / folder / kInstalledFile) << text;
  }

  Catalog read() const { return Catalog::read({root_ / "workers"}, root_ / "environments"); }
};

TEST_F(CatalogEnvironments, a_worker_is_there_once_for_each_release_installed) {
  write("workers/pytorch", asking("pytorch", "2.12.0"));
  install("pytorch-2.9.1", R"({"name": "pytorch", "release": "2.9.1"})");
  install("pytorch-2.10.0", R"({"name": "pytorch", "release": "2.10.0"})");
  const Catalog catalog = read();
  ASSERT_THAT(catalog.workers(), SizeIs(2));
  EXPECT_EQ(catalog.find("pytorch").release, "2.10.0");
  const auto& older = catalog.find("pytorch==2.9.1");
  EXPECT_THAT(worker_argv(older), ElementsAre((root_ / "environments/pytorch-2.9.1/bin/python").string(),
                                              (root_ / "workers/pytorch/worker.py").string()));
  EXPECT_NE(catalog.find(Worker{"pytorch", "2.10.0"}), nullptr);
  EXPECT_EQ(catalog.find(Worker{"pytorch", "2.12.0"}), nullptr);
  EXPECT_EQ(catalog.installable("pytorch").release, "2.12.0");
}

TEST_F(CatalogEnvironments, what_is_not_installed_says_how_to_install_it) {
  write("workers/pytorch", asking("pytorch", "2.12.0"));
  const Catalog catalog = read();
  ASSERT_THAT(catalog.workers(), SizeIs(1));
  EXPECT_FALSE(catalog.workers()[0].installed());
  EXPECT_EQ(error_of([&] { catalog.find("pytorch"); }),
            "worker pytorch is not installed: run `assay worker install pytorch`.");
  EXPECT_EQ(error_of([&] { catalog.find("pytorch==2.1"); }),
            "worker pytorch==2.1 is not installed: run `assay worker install pytorch==2.1`.");
  EXPECT_EQ(catalog.find(Worker{"pytorch", "2.12.0"}), nullptr);
}

TEST_F(CatalogEnvironments, what_is_incomplete_moved_or_broken_is_not_installed) {
  write("workers/pytorch", asking("pytorch", "2.12.0"));
  fs::create_directories(root_ / "environments/pytorch-1.0/bin");           // installed.json was never written
  install("pytorch-2.0-copy", R"({"name": "pytorch", "release": "2.0"})");  // an environment cannot be moved
  install("pytorch-3.0", "{");
  const Catalog catalog = read();
  ASSERT_THAT(catalog.workers(), SizeIs(1));
  EXPECT_FALSE(catalog.workers()[0].installed());
  EXPECT_THAT(catalog.problems(), ElementsAre(HasSubstr("pytorch-3.0/installed.json")));
}

TEST_F(CatalogEnvironments, a_worker_is_built_only_where_it_says_so) {
  const auto build_of = [](const std::string& environment) {
    return from_json<Environment>(parse_json(environment)).build;
  };
  EXPECT_FALSE(build_of(R"({"package": "torch", "requirements": "requirements.txt"})"));
  EXPECT_TRUE(build_of(R"({"package": "openvino", "requirements": "requirements.txt", "build": true})"));
}

TEST_F(CatalogEnvironments, an_environment_must_be_described_and_its_name_must_end_somewhere) {
  WorkerInfo info = fake_worker("1");
  info.argv = {"{environment}/bin/python"};
  EXPECT_THAT(error_of([&] { check(info); }), HasSubstr("{environment}"));
  info.environment = Environment{"torch", "requirements.txt"};
  check(info);
  info.name = "py-torch";
  EXPECT_THAT(error_of([&] { check(info); }), HasSubstr("Write _"));
  info.name = "pytorch";
  info.environment->requirements = "../requirements.txt";
  EXPECT_THAT(error_of([&] { check(info); }), HasSubstr("environment.requirements"));
}

}  // namespace
}  // namespace assay::plan
