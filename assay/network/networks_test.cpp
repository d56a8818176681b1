// Every network beside what others say of it: published numbers of parameters and multiply-adds, and both by hand.

#include <gtest/gtest.h>

#include "assay/network/cost.hpp"
#include "assay/network/network.hpp"

namespace assay::network {
namespace {

// What other packages count of the same network; `bench/counts` counts again. By hand where there is none.
const std::map<std::string, std::int64_t> kPublished{
    {"alexnet", 61'100'840},       // torchvision
    {"bert_base", 109'482'240},    // transformers: BertModel
    {"bert_large", 335'141'888},   // transformers: BertModel
    {"cosmoflow", 5'597'604},      // by hand, from the sizes of MLPerf HPC's cosmo.yaml
    {"deeplabv3", 39'638'869},     // torchvision: 42,004,074 less 2,365,205 of its auxiliary head
    {"deit", 22'050'664},          // timm: deit_small_patch16_224
    {"densenet121", 7'978'856},    // torchvision
    {"dlrm", 540'677'217},         // by hand, from the sizes of DLRM's script for Criteo Kaggle
    {"googlenet", 6'624'904},      // torchvision, without auxiliary heads
    {"gpt2", 124'439'808},         // transformers: GPT2LMHeadModel
    {"gru", 18'087'800},           // torch.nn: Embedding, GRU and Linear
    {"inception_v3", 23'834'568},  // torchvision: 27,161,264 with its auxiliary head
    {"lenet", 19'754},             // by hand
    {"llama", 1'100'048'384},      // transformers: LlamaForCausalLM with the sizes of TinyLlama 1.1B
    {"lstm", 19'775'200},          // by hand, from the sizes of Zaremba 2014, medium
    {"mlp", 26'122},               // by hand
    {"mobilenet_v2", 3'504'872},   // torchvision
    {"ncf", 31'832'577},           // by hand, from the sizes of MovieLens 20M
    {"resnet50", 25'557'032},      // torchvision
    {"roberta", 124'645'632},      // transformers: RobertaModel
    {"squeezenet", 1'248'424},     // torchvision: squeezenet1_0
    {"ssd300", 35'641'826},        // torchvision
    {"transformer", 63'082'496},   // torch.nn: Transformer without last norms, Embedding; Vaswani 2017 has 65 M
    {"unet", 31'037'698},          // by hand, from the sizes of milesial/Pytorch-UNet
    {"vgg16", 138'357'544},        // torchvision
    {"vgg19", 143'667'240},        // torchvision
    {"vit_b16", 86'567'656},       // torchvision
    {"xception", 22'855'952},      // timm: legacy_xception; Keras, trainable ones
};

TEST(Networks, HaveThePublishedNumberOfParameters) {
  for (const auto& about : all_networks()) {
    ASSERT_EQ(kPublished.count(about.name), 1U) << about.name << " has no count here";
    EXPECT_EQ(build(about.name).parameters, kPublished.at(about.name)) << about.name;
  }
  EXPECT_EQ(all_networks().size(), kPublished.size());
}

// Windows of 3 x 3 with a bias: 6 x (9 + 1) + 16 x (6 x 9 + 1); 8 x 8 pixels are 2 x 2 after two pools, so that
// 16 x 4 = 64 values go on to 120, 84 and 10.
TEST(Networks, LenetHasTheLayersOfItsTable) {
  const std::int64_t linear = 120 * (64 + 1) + 84 * (120 + 1) + 10 * (84 + 1);
  EXPECT_EQ(build("lenet").parameters, 60 + 880 + linear);
  const double macs = 64 * 6 * 9 + 16 * 16 * 6 * 9 + 120 * 64 + 84 * 120 + 10 * 84;
  EXPECT_DOUBLE_EQ(cost_of(build("lenet")).total.flops, 2 * macs);
  EXPECT_EQ(build("lenet", {{"classes", std::int64_t{5}}}).parameters, 60 + 880 + linear - 5 * 85);
}

TEST(Networks, MlpHasTwoHiddenLayers) {
  EXPECT_EQ(build("mlp").parameters, 128 * (64 + 1) + 128 * (128 + 1) + 10 * (128 + 1));
  EXPECT_EQ(build("mlp", {{"width", std::int64_t{3}}}).parameters, 3 * 65 + 3 * 4 + 10 * 4);
}

// Multiply-adds of one sample that torch.utils.flop_counter counts in torchvision 0.28, timm 1.0.30 and
// transformers 5.22: by `bench/counts`. torchvision publishes its own with three digits behind the giga, and they are
// the same.
const std::map<std::string, std::int64_t> kMultiplyAdds{
    {"alexnet", 714'188'480},      {"bert_base", 11'174'215'680},   {"bert_large", 39'461'060'608},
    {"deit", 4'598'882'304},       {"densenet121", 2'834'161'664},  {"googlenet", 1'498'376'192},
    {"gpt2", 16'114'089'984},      {"inception_v3", 5'713'216'096}, {"llama", 133'882'183'680},
    {"mobilenet_v2", 300'774'272}, {"resnet50", 4'089'184'256},     {"roberta", 11'174'215'680},
    {"squeezenet", 818'924'576},   {"ssd300", 34'858'153'472},      {"vgg16", 15'470'264'320},
    {"vgg19", 19'632'062'464},     {"vit_b16", 17'563'828'224},     {"xception", 8'357'403'496},
};

TEST(Networks, HaveTheMultiplyAddsThatOthersCount) {
  for (const auto& [name, macs] : kMultiplyAdds) {
    EXPECT_DOUBLE_EQ(cost_of(build(name)).total.flops / 2, static_cast<double>(macs)) << name;
  }
  const auto large = build("deeplabv3", {{"image", std::int64_t{520}}});
  EXPECT_DOUBLE_EQ(cost_of(large).total.flops / 2, 168'731'205'888.0);
}

// Against VGG-16, a fourth convolution in each of the last three stages: 9 c^2 + c parameters, 9 c^2 multiply-adds a
// pixel. torchvision gives 19.63 G multiply-adds.
TEST(Networks, Vgg19HasThreeConvolutionsMoreThanVgg16) {
  EXPECT_EQ(build("vgg19").parameters - build("vgg16").parameters, 9 * 256 * 256 + 256 + 2 * (9 * 512 * 512 + 512));
  const double more = 9.0 * (56 * 56 * 256 * 256 + 28 * 28 * 512 * 512 + 14 * 14 * 512 * 512);
  const double flops = cost_of(build("vgg19")).total.flops;
  EXPECT_DOUBLE_EQ(flops - cost_of(build("vgg16")).total.flops, 2 * more);
  EXPECT_NEAR(flops / 2, 19.63e9, 0.01e9);
}

// 512 channels of 7 x 7, or of 1 x 1 from an image of 32.
TEST(Networks, VggOfAnotherImageHasAnotherFirstLinearLayer) {
  const auto small = build("vgg19", {{"image", std::int64_t{32}}});
  EXPECT_EQ(build("vgg19").parameters - small.parameters, 4096 * 512 * (7 * 7 - 1));
}

// A module that reads `in` channels, squeezes to s and expands to e twice: s (in + 1) + e (s + 1) + e (9 s + 1).
TEST(Networks, SqueezenetFollowsItsTable) {
  const auto fire = [](std::int64_t in, std::int64_t s, std::int64_t e) {
    return s * (in + 1) + e * (s + 1) + e * (9 * s + 1);
  };
  const auto modules = fire(96, 16, 64) + fire(128, 16, 64) + fire(128, 32, 128) + fire(256, 32, 128) +
                       fire(256, 48, 192) + fire(384, 48, 192) + fire(384, 64, 256) + fire(512, 64, 256);
  EXPECT_EQ(build("squeezenet").parameters, 96 * (3 * 49 + 1) + modules + 1000 * 513);
  // 224 pixels: 109 after the first convolution, then 54, 27 and 13 after the pools that round up; torchvision gives
  // 0.82 G multiply-adds.
  const auto work = [](double size, double in, double s, double e) {
    return size * size * (s * in + e * s + 9 * e * s);
  };
  const double macs = 109.0 * 109 * 96 * 147 + work(54, 96, 16, 64) + work(54, 128, 16, 64) + work(54, 128, 32, 128) +
                      work(27, 256, 32, 128) + work(27, 256, 48, 192) + work(27, 384, 48, 192) +
                      work(27, 384, 64, 256) + work(13, 512, 64, 256) + 13.0 * 13 * 512 * 1000;
  EXPECT_DOUBLE_EQ(cost_of(build("squeezenet")).total.flops, 2 * macs);
  EXPECT_NEAR(macs, 0.82e9, 0.01e9);
}

// With growth k a layer on c channels has norms of c and 4 k (two numbers a channel) and convolutions of 4 k c and
// 9 * 4 k * k; a transition halves the channels. torchvision gives 2.83 G multiply-adds.
TEST(Networks, DensenetFollowsItsTable) {
  const std::int64_t k = 32;
  std::int64_t c = 2 * k, parameters = 49 * 3 * c + 2 * c;
  double size = 56, macs = 112.0 * 112 * 49 * 3 * 64;
  for (const int layers : {6, 12, 24, 16}) {
    for (int i = 0; i < layers; ++i, c += k) {
      parameters += 2 * c + 4 * k * c + 2 * 4 * k + 9 * 4 * k * k;
      macs += size * size * static_cast<double>(4 * k * c + 9 * 4 * k * k);
    }
    if (layers == 16) break;
    parameters += 2 * c + c * c / 2;
    macs += size * size * static_cast<double>(c * c / 2);  // before the pool
    c /= 2;
    size /= 2;
  }
  EXPECT_EQ(c, 1024);
  EXPECT_EQ(build("densenet121").parameters, parameters + 2 * c + 1000 * (c + 1));
  EXPECT_DOUBLE_EQ(cost_of(build("densenet121")).total.flops, 2 * (macs + 1024 * 1000));
  EXPECT_NEAR(macs, 2.83e9, 0.02e9);
}

// A separable convolution from m to n channels has 9 m + m n weights and a norm of 2 n; a shortcut m n and a norm.
TEST(Networks, XceptionFollowsItsFlows) {
  const auto separable = [](std::int64_t m, std::int64_t n) { return 9 * m + m * n + 2 * n; };
  const auto shortcut = [](std::int64_t m, std::int64_t n) { return m * n + 2 * n; };
  const auto shrinking = [&](std::int64_t m, std::int64_t middle, std::int64_t n) {
    return separable(m, middle) + separable(middle, n) + shortcut(m, n);
  };
  const auto stem = 27 * 32 + 64 + 9 * 32 * 64 + 128;
  const auto entry = shrinking(64, 128, 128) + shrinking(128, 256, 256) + shrinking(256, 728, 728);
  const auto exit = shrinking(728, 728, 1024) + separable(1024, 1536) + separable(1536, 2048) + 1000 * 2049;
  EXPECT_EQ(build("xception").parameters, stem + entry + 8 * 3 * separable(728, 728) + exit);
}

// Sides: 149 and 147 in the stem, then 74, 37, 19 and 10. timm's has 8.357 G multiply-adds.
TEST(Networks, WorkOfXceptionFollowsItsSides) {
  const auto separable = [](double side, double m, double n) { return side * side * (9 * m + m * n); };
  double macs = 149.0 * 149 * 27 * 32 + 147.0 * 147 * 9 * 32 * 64;
  macs += separable(147, 64, 128) + separable(147, 128, 128) + 74.0 * 74 * 64 * 128;
  macs += separable(74, 128, 256) + separable(74, 256, 256) + 37.0 * 37 * 128 * 256;
  macs += separable(37, 256, 728) + separable(37, 728, 728) + 19.0 * 19 * 256 * 728;
  macs += 24 * separable(19, 728, 728);
  macs += separable(19, 728, 728) + separable(19, 728, 1024) + 10.0 * 10 * 728 * 1024;
  macs += separable(10, 1024, 1536) + separable(10, 1536, 2048) + 2048.0 * 1000;
  EXPECT_DOUBLE_EQ(cost_of(build("xception")).total.flops, 2 * macs);
  EXPECT_NEAR(macs, 8.357e9, 0.001e9);
}

// Tables of words, positions and types with their norm, layers of 12 d^2 + 13 d, and a pooler of d^2 + d.
std::int64_t parameters_of_bert(std::int64_t rows, std::int64_t layers, std::int64_t d) {
  return rows * d + 2 * d + layers * (12 * d * d + 13 * d) + d * d + d;
}

TEST(Networks, BertLargeFollowsTheFormula) {
  EXPECT_EQ(build("bert_base").parameters, parameters_of_bert(30522 + 512 + 2, 12, 768));
  EXPECT_EQ(build("bert_large").parameters, parameters_of_bert(30522 + 512 + 2, 24, 1024));
  const Options small{{"features", std::int64_t{128}}, {"layers", std::int64_t{2}}};
  EXPECT_EQ(build("bert_large", small).parameters, parameters_of_bert(30522 + 512 + 2, 2, 128));
}

TEST(Networks, RobertaIsBertWithOtherTables) {
  EXPECT_EQ(build("roberta").parameters, parameters_of_bert(50265 + 514 + 1, 12, 768));
}

// Users and items have 64 factors and 128 inputs of the perceptron each; its layers are 256, 256, 128, 64.
TEST(Networks, NcfIsMostlyTables) {
  const std::int64_t tables = (138'493 + 26'744) * (64 + 128);
  const std::int64_t layers = 257 * 256 + 257 * 128 + 129 * 64 + (64 + 64 + 1);
  EXPECT_EQ(build("ncf").parameters, tables + layers);
  EXPECT_DOUBLE_EQ(cost_of(build("ncf")).total.flops, 2.0 * (256 * 256 + 256 * 128 + 128 * 64 + 128));
}

// Patches of 16 x 16 from 224 pixels are 196, with the class token 197 positions; a layer has 12 d^2 + 13 d.
std::int64_t parameters_of_vit(std::int64_t d) {
  return (16 * 16 * 3 + 1) * d + d + 197 * d + 12 * (12 * d * d + 13 * d) + 2 * d + 1000 * (d + 1);
}

TEST(Networks, VitFollowsTheFormula) {
  EXPECT_EQ(build("vit_b16").parameters, parameters_of_vit(768));
  const double d = 768, s = 197;
  const double macs = 196 * 768 * d + 12 * (s * 12 * d * d + 2 * s * s * d) + 1000 * d;
  EXPECT_DOUBLE_EQ(cost_of(build("vit_b16")).total.flops, 2 * macs);
  EXPECT_NEAR(macs, 17.56e9, 0.01e9);  // torchvision
}

// timm has DeiT in three sizes, and counts these.
TEST(Networks, DeitFollowsTheFormula) {
  EXPECT_EQ(build("deit").parameters, parameters_of_vit(384));
  EXPECT_EQ(build("deit", {{"features", std::int64_t{192}}}).parameters, 5'717'416);
  EXPECT_EQ(build("deit", {{"features", std::int64_t{768}}}).parameters, 86'567'656);
}

// ResNet-50 without its last layer; five views of 2048 channels by 256, joined, and two convolutions. A convolution of
// m to n channels with its norm has k^2 m n + 2 n.
TEST(Networks, DeeplabFollowsItsPyramid) {
  const auto normed = [](std::int64_t k, std::int64_t m, std::int64_t n) { return k * k * m * n + 2 * n; };
  const auto views = 2 * normed(1, 2048, 256) + 3 * normed(3, 2048, 256);
  const auto head = normed(1, 5 * 256, 256) + normed(3, 256, 256) + 21 * 257;
  EXPECT_EQ(build("deeplabv3").parameters, build("resnet50").parameters - 1000 * 2049 + views + head);
  EXPECT_EQ(build("deeplabv3").nodes.back().shape, (Shape{224 * 224, 21}));
}

// At 520 pixels, as torchvision counts: 178.72 G multiply-adds with the auxiliary head, whose convolutions work on a
// side of 65 too. The last two stages of ResNet-50 work on that side instead of a half and a quarter of it.
TEST(Networks, WorkOfDeeplabFollowsItsSides) {
  const double area = 65.0 * 65, half = 130.0 * 130;
  const auto stage = [](double in, double inner, double blocks, double first, double rest) {
    return first * in * inner + rest * (9 * inner * inner + 4 * inner * inner + 4 * in * inner) +
           (blocks - 1) * rest * 17 * inner * inner;
  };
  const double trunk = 260.0 * 260 * 147 * 64 + stage(64, 64, 3, half, half) + stage(256, 128, 4, half, area) +
                       stage(512, 256, 6, area, area) + stage(1024, 512, 3, area, area);
  const double views = area * (2048 * 256 + 3 * 9 * 2048 * 256 + 5 * 256 * 256 + 9 * 256 * 256 + 256 * 21) + 2048 * 256;
  EXPECT_NEAR(cost_of(build("deeplabv3", {{"image", std::int64_t{520}}})).total.flops / (2 * (trunk + views)), 1,
              1e-12);
  EXPECT_NEAR(trunk + views + area * (9 * 1024 * 256 + 256 * 21), 178.72e9, 0.2e9);
}

// A level has 9 m n + 9 n n weights and two norms of n; upwards 4 weights for each pair of 2 n and n channels, a bias,
// and a level that reads 2 n.
TEST(Networks, UnetGoesDownAndUp) {
  const auto twice = [](std::int64_t m, std::int64_t n) { return 9 * m * n + 9 * n * n + 4 * n; };
  std::int64_t parameters = twice(3, 64) + 2 * 65;
  for (const std::int64_t n : {64, 128, 256, 512}) {
    parameters += twice(n, 2 * n) + 4 * 2 * n * n + n + twice(2 * n, n);
  }
  EXPECT_EQ(build("unet").parameters, parameters);
  const auto at = [](std::int64_t channels, std::int64_t image) {
    return cost_of(build("unet", {{"channels", channels}, {"image", image}})).total.flops;
  };
  EXPECT_DOUBLE_EQ(at(64, 256), 4 * at(64, 128));
  double macs = 256.0 * 256 * (9 * 3 * 64 + 9 * 64 * 64 + 64 * 2);
  double pixels = 256 * 256;
  for (const double n : {64, 128, 256, 512}) {
    macs += pixels / 4 * (9 * n * 2 * n + 9 * 4 * n * n + 4 * 2 * n * n) + pixels * (9 * 2 * n * n + 9 * n * n);
    pixels /= 4;
  }
  EXPECT_DOUBLE_EQ(at(64, 256), 2 * macs);
}

// VGG-16 without its linear layers, whose parameters are 25089 * 4096 + 4097 * 4096 + 4097 * 1000; six layers after it
// and a weight for each of 512 channels; at each place of six maps some boxes with 4 + 91 numbers.
TEST(Networks, Ssd300LooksAtSixMaps) {
  const auto convolution = [](std::int64_t k, std::int64_t m, std::int64_t n) { return (k * k * m + 1) * n; };
  const std::int64_t trunk = build("vgg16").parameters - 25'089 * 4096 - 4097 * 4096 - 4097 * 1000;
  const std::int64_t behind = convolution(3, 512, 1024) + convolution(1, 1024, 1024) + convolution(1, 1024, 256) +
                              convolution(3, 256, 512) + convolution(1, 512, 128) + convolution(3, 128, 256) +
                              2 * (convolution(1, 256, 128) + convolution(3, 128, 256)) + 512;
  const std::int64_t heads = convolution(3, 512, 4 * 95) + convolution(3, 1024, 6 * 95) + convolution(3, 512, 6 * 95) +
                             convolution(3, 256, 6 * 95) + 2 * convolution(3, 256, 4 * 95);
  EXPECT_EQ(build("ssd300").parameters, trunk + behind + heads);
  // 8732 boxes, as in the paper: sides of 38, 19, 10, 5, 3 and 1.
  const std::int64_t boxes = 38 * 38 * 4 + 19 * 19 * 6 + 10 * 10 * 6 + 5 * 5 * 6 + 3 * 3 * 4 + 1 * 1 * 4;
  EXPECT_EQ(boxes, 8732);
  EXPECT_EQ(build("ssd300").nodes.back().shape, Shape{boxes * 95});
}

// Words in and out, and in each layer `gates` times features for input, state and biases. Later papers list the
// large LSTM of the same paper, with 1500 features, with 66 M parameters.
std::int64_t parameters_of_recurrent(std::int64_t gates, std::int64_t biases, std::int64_t d) {
  return 10'000 * d + 2 * gates * d * (2 * d + biases) + 10'000 * (d + 1);
}

TEST(Networks, LstmFollowsTheFormula) {
  EXPECT_EQ(build("lstm").parameters, parameters_of_recurrent(4, 1, 650));
  EXPECT_EQ(build("lstm", {{"features", std::int64_t{1500}}}).parameters, 66'022'000);
  const double macs = 35 * (2 * 4 * 650.0 * 1300 + 650.0 * 10'000);
  EXPECT_DOUBLE_EQ(cost_of(build("lstm")).total.flops, 2 * macs);
  // A product for the input of a layer and one for each of 35 words, and the head: all behind each other.
  EXPECT_EQ(cost_of(build("lstm")).width.depth, 2 * 36 + 1);
}

TEST(Networks, GruFollowsTheFormula) {
  EXPECT_EQ(build("gru").parameters, parameters_of_recurrent(3, 2, 650));
  const double macs = 35 * (2 * 3 * 650.0 * 1300 + 650.0 * 10'000);
  EXPECT_DOUBLE_EQ(cost_of(build("gru")).total.flops, 2 * macs);
}

// 33,762,577 rows of 16; perceptrons 13-512-256-64-16 and 367-512-256-1, where 367 = 16 + 27 * 26 / 2.
TEST(Networks, DlrmIsMostlyTables) {
  const std::int64_t bottom = 14 * 512 + 513 * 256 + 257 * 64 + 65 * 16;
  const std::int64_t top = 368 * 512 + 513 * 256 + 257;
  EXPECT_EQ(build("dlrm").parameters, 33'762'577 * 16 + bottom + top);
  const double layers = 13 * 512 + 512 * 256 + 256 * 64 + 64 * 16 + 367 * 512 + 512 * 256 + 256;
  EXPECT_DOUBLE_EQ(cost_of(build("dlrm")).total.flops, 2 * (layers + 351 * 16));
  // No table of more than 100 rows: 7 of the 26 have fewer.
  const auto small = build("dlrm", {{"rows", std::int64_t{100}}});
  EXPECT_EQ(small.parameters, (19 * 100 + 24 + 3 + 27 + 10 + 4 + 18 + 15) * 16 + bottom + top);
}

// What transformers counts of LLaMA-7B and Llama-3-8B. A layer has 2 d^2 and 2 d k for queries, output, keys and
// values, 3 d h for the gated perceptron, and two norms.
TEST(Networks, LlamaHasTheSizesOfItsOptions) {
  struct Sizes {
    std::int64_t layers, heads, key_heads, features, hidden, tokens;
  };
  const auto found = [](const Sizes& s) {
    return build("llama", {{"layers", s.layers},
                           {"heads", s.heads},
                           {"key_heads", s.key_heads},
                           {"features", s.features},
                           {"hidden", s.hidden},
                           {"tokens", s.tokens}});
  };
  EXPECT_EQ(found({32, 32, 32, 4096, 11'008, 32'000}).parameters, 6'738'415'616);
  EXPECT_EQ(found({32, 32, 8, 4096, 14'336, 128'256}).parameters, 8'030'261'248);
  const std::int64_t d = 2048, k = 4 * 64, h = 5632;
  const std::int64_t layer = 2 * d * d + 2 * d * k + 3 * d * h + 2 * d;
  EXPECT_EQ(build("llama").parameters, 22 * layer + 2 * 32'000 * d + d);
  const double s = 128, macs = s * static_cast<double>(22 * (layer - 2 * d) + 32'000 * d) + 22 * 2 * s * s * 2048;
  EXPECT_DOUBLE_EQ(cost_of(build("llama")).total.flops, 2 * macs);
}

// torch.nn.Transformer() has 44,140,544 parameters, with a norm of 2 * 512 behind the encoder and one behind the
// decoder that the paper has not. The table is that of the paper's 37,000 tokens.
TEST(Networks, TransformerIsTorchsWithATable) {
  EXPECT_EQ(build("transformer").parameters, 44'140'544 - 2 * 2 * 512 + 37'000 * 512);
  const std::int64_t d = 512, h = 2048;
  const std::int64_t attention = 4 * (d * d + d) + 2 * d, feed = 2 * d * h + h + d + 2 * d;
  EXPECT_EQ(build("transformer").parameters, 6 * (attention + feed) + 6 * (2 * attention + feed) + 37'000 * d);
  // Weights meet each of 128 tokens; scores and values of 18 attentions.
  const double s = 128, weights = 18 * 4.0 * 512 * 512 + 12 * 2.0 * 512 * 2048 + 37'000.0 * 512;
  EXPECT_DOUBLE_EQ(cost_of(build("transformer")).total.flops, 2 * (s * weights + 18 * 2 * s * s * 512));
}

// Windows of 2 x 2 x 2 from 4 to 32, 64, 128, 256 and 512 channels; 512 of 4 x 4 x 4 go into 128, 64 and 4 features.
TEST(Networks, CosmoflowFollowsItsLayers) {
  std::int64_t parameters = (512 * 64 + 1) * 128 + 129 * 64 + 65 * 4, in = 4;
  double macs = 512.0 * 64 * 128 + 128 * 64 + 64 * 4, side = 128;
  for (const std::int64_t out : {32, 64, 128, 256, 512}) {
    parameters += (8 * in + 1) * out;
    macs += side * side * side * static_cast<double>(8 * in * out);
    in = out;
    side /= 2;
  }
  EXPECT_EQ(build("cosmoflow").parameters, parameters);
  EXPECT_DOUBLE_EQ(cost_of(build("cosmoflow")).total.flops, 2 * macs);
}

}  // namespace
}  // namespace assay::network
