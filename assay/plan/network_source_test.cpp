#include "assay/plan/network_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "assay/core/text/hash.hpp"
#include "assay/network/network.hpp"

namespace assay::plan {
namespace {

using testing::HasSubstr;

WorkerInfo builder_of_graphs() {
  WorkerInfo worker;
  worker.name = "builder";
  worker.release = "1";
  worker.networks = {"gemm"};
  worker.files = {"py", "onnx", "pt"};
  for (const auto* name : EnumNames<network::Op>::names) worker.operators.emplace_back(name);
  return worker;
}

Workload workload(const std::string& network) {
  Workload out;
  out.network = network;
  return out;
}

template <typename Function>
std::string error_of(ErrorKind kind, Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "no error";
}

/// A file of this test alone, gone at its end.
class File {
 public:
  explicit File(const std::string& text, const std::string& kind = "py")
      : path_(testing::TempDir() + "assay-network-" + std::to_string(getpid()) + "." + kind) {
    write(text);
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  void write(const std::string& text) const { std::ofstream(path_) << text; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(NetworkSource, OfANetworkIsItsGraph) {
  NetworkSources sources;
  const auto worker = builder_of_graphs();
  auto asked = workload("resnet50");
  bind_network(sources, worker, asked);
  EXPECT_EQ(asked.graph, network::graph_hash(network::build("resnet50")));
  const auto planned = planned_source(worker, asked);
  EXPECT_EQ(planned.graph.at("parameters"), 25'557'032);
  EXPECT_FALSE(planned.file);
}

TEST(NetworkSource, OptionsMakeAnotherGraph) {
  NetworkSources sources;
  auto plain = workload("resnet50");
  auto small = workload("resnet50");
  small.options["image"] = std::int64_t{64};
  bind_network(sources, builder_of_graphs(), plain);
  bind_network(sources, builder_of_graphs(), small);
  EXPECT_NE(plain.graph, small.graph);
}

TEST(NetworkSource, OfANameTheWorkerListsIsTheNameAlone) {
  NetworkSources sources;
  auto asked = workload("gemm");
  bind_network(sources, builder_of_graphs(), asked);
  EXPECT_FALSE(asked.graph);
  auto worker = builder_of_graphs();
  worker.operators.clear();
  worker.networks = {"*"};
  auto other = workload("resnet50");
  bind_network(sources, worker, other);
  EXPECT_FALSE(other.graph) << "a worker that builds no graphs means its own network by the name";
}

TEST(NetworkSource, NamesTheOperatorThatIsMissing) {
  auto worker = builder_of_graphs();
  std::erase(worker.operators, "gelu");
  NetworkSources sources;
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { sources.find(worker, workload("bert_base")); }),
              AllOf(HasSubstr("bert_base"), HasSubstr("'gelu'")));
  EXPECT_FALSE(sources.find(worker, workload("resnet50")).hash.empty());
}

TEST(NetworkSource, OfAFileIsItsBytes) {
  const File file("def build(): pass\n");
  const auto worker = builder_of_graphs();
  auto asked = workload(file.path() + ":build");
  NetworkSources sources;
  bind_network(sources, worker, asked);
  EXPECT_EQ(asked.graph, hash_hex("def build(): pass\n"));
  const auto planned = planned_source(worker, asked);
  ASSERT_TRUE(planned.file);
  EXPECT_EQ(planned.file->path, file.path());
  EXPECT_EQ(planned.file->function, "build");
  EXPECT_TRUE(planned.graph.is_null());

  file.write("def build(): return 1\n");
  EXPECT_THAT(error_of(ErrorKind::failure, [&] { planned_source(worker, asked); }),
              AllOf(HasSubstr("has changed"), HasSubstr(file.path())));
}

class WholeNetwork : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(NetworkSource, WholeNetwork, testing::Values("onnx", "pt"));

TEST_P(WholeNetwork, IsTheFileItself) {
  const File file("any bytes", GetParam());
  const auto worker = builder_of_graphs();
  auto asked = workload(file.path());
  NetworkSources sources;
  bind_network(sources, worker, asked);
  EXPECT_EQ(asked.graph, hash_hex("any bytes"));
  const auto planned = planned_source(worker, asked);
  ASSERT_TRUE(planned.file);
  EXPECT_EQ(planned.file->path, file.path());
  EXPECT_FALSE(planned.file->function);
  EXPECT_TRUE(to_json(*planned.file).at("function").is_null());

  file.write("other bytes");
  EXPECT_THAT(error_of(ErrorKind::failure, [&] { planned_source(worker, asked); }), HasSubstr("has changed"));
  auto elsewhere = builder_of_graphs();
  elsewhere.files = {"py"};
  EXPECT_TRUE(NetworkSources().find(elsewhere, workload(file.path())).hash.empty()) << "it takes no such files";
}

TEST(NetworkSource, SaysWhatIsWrongWithAFile) {
  const File file("x");
  NetworkSources sources;
  const auto message = [&](const std::string& network) {
    return error_of(ErrorKind::usage, [&] { sources.find(builder_of_graphs(), workload(network)); });
  };
  EXPECT_THAT(message("/nowhere/net.py:build"), HasSubstr("'/nowhere/net.py' cannot be read"));
  EXPECT_THAT(message("/nowhere/net.onnx"), HasSubstr("'/nowhere/net.onnx' cannot be read"));
  EXPECT_THAT(message(file.path() + ":"), HasSubstr("no function"));
}

TEST(NetworkSource, ANetworkThatChangedSinceIsNotMeasuredAsTheOldOne) {
  auto asked = workload("resnet50");
  asked.graph = "00000000000000000000000000000000";
  EXPECT_THAT(error_of(ErrorKind::failure, [&] { planned_source(builder_of_graphs(), asked); }), HasSubstr("resnet50"));
}

}  // namespace
}  // namespace assay::plan
