#include "assay/predict/models/catalogue.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "assay/core/text/number.hpp"

namespace assay::predict {
namespace {

struct DenseRow {
  const char* name;
  const char* source;
  std::int64_t hidden, layers, heads, kv_heads, head_dim, feedforward, vocabulary;
  bool tied;
};

constexpr const char* kLlama = "huggingface.co/meta-llama: config.json";
constexpr const char* kQwen = "huggingface.co/Qwen: config.json";
constexpr const char* kMistral = "huggingface.co/mistralai: config.json";

// Gated feed-forward layers, norms that scale alone, no biases.
constexpr DenseRow kGated[]{
    {"llama2-7b", kLlama, 4096, 32, 32, 32, 128, 11008, 32000, false},
    {"llama2-13b", kLlama, 5120, 40, 40, 40, 128, 13824, 32000, false},
    {"llama2-70b", kLlama, 8192, 80, 64, 8, 128, 28672, 32000, false},
    {"llama3-8b", kLlama, 4096, 32, 32, 8, 128, 14336, 128256, false},
    {"llama3-70b", kLlama, 8192, 80, 64, 8, 128, 28672, 128256, false},
    {"llama3-405b", kLlama, 16384, 126, 128, 8, 128, 53248, 128256, false},
    {"llama3.2-1b", kLlama, 2048, 16, 32, 8, 64, 8192, 128256, true},
    {"llama3.2-3b", kLlama, 3072, 28, 24, 8, 128, 8192, 128256, true},
    {"mistral-7b", kMistral, 4096, 32, 32, 8, 128, 14336, 32000, false},
    {"mistral-small-24b", kMistral, 5120, 40, 32, 8, 128, 32768, 131072, false},
};

// The same with biases of queries, keys and values.
constexpr DenseRow kQwen2[]{
    {"qwen2.5-0.5b", kQwen, 896, 24, 14, 2, 64, 4864, 151936, true},
    {"qwen2.5-1.5b", kQwen, 1536, 28, 12, 2, 128, 8960, 151936, true},
    {"qwen2.5-7b", kQwen, 3584, 28, 28, 4, 128, 18944, 152064, false},
    {"qwen2.5-14b", kQwen, 5120, 48, 40, 8, 128, 13824, 152064, false},
    {"qwen2.5-32b", kQwen, 5120, 64, 40, 8, 128, 27648, 152064, false},
    {"qwen2.5-72b", kQwen, 8192, 80, 64, 8, 128, 29568, 152064, false},
};

// Without them, and with norms of queries and keys.
constexpr DenseRow kQwen3[]{
    {"qwen3-0.6b", kQwen, 1024, 28, 16, 8, 128, 3072, 151936, true},
    {"qwen3-1.7b", kQwen, 2048, 28, 16, 8, 128, 6144, 151936, true},
    {"qwen3-4b", kQwen, 2560, 36, 32, 8, 128, 9728, 151936, true},
    {"qwen3-8b", kQwen, 4096, 36, 32, 8, 128, 12288, 151936, false},
    {"qwen3-14b", kQwen, 5120, 40, 40, 8, 128, 17408, 151936, false},
    {"qwen3-32b", kQwen, 5120, 64, 64, 8, 128, 25600, 151936, false},
};

ModelShape plain(const DenseRow& row) {
  ModelShape m;
  m.name = row.name;
  m.source = row.source;
  m.hidden = row.hidden;
  m.layers = row.layers;
  m.heads = row.heads;
  m.kv_heads = row.kv_heads;
  m.head_dim = row.head_dim;
  m.feedforward = row.feedforward;
  m.vocabulary = row.vocabulary;
  m.tied = row.tied;
  return m;
}

/// Blocks as GPT-2 has them: a plain feed-forward layer of 4 x hidden, biases everywhere, the output tied.
ModelShape gpt(const char* name, const char* source, std::int64_t hidden, std::int64_t layers, std::int64_t heads,
               std::int64_t vocabulary, std::int64_t positions) {
  auto m = plain({name, source, hidden, layers, heads, heads, hidden / heads, 4 * hidden, vocabulary, true});
  m.gated = false;
  m.norm_bias = m.qkv_bias = m.output_bias = m.feedforward_bias = true;
  m.positions = positions;
  return m;
}

ModelShape mpt(const char* name, std::int64_t hidden, std::int64_t layers, std::int64_t heads) {
  auto m = gpt(name, "huggingface.co/mosaicml: config.json", hidden, layers, heads, 50432, 0);
  m.norm_bias = m.qkv_bias = m.output_bias = m.feedforward_bias = false;
  return m;
}

/// BERT's heads of pre-training are not in it; its pooler, token types and embedding norm are.
ModelShape bert(const char* name, std::int64_t hidden, std::int64_t layers, std::int64_t heads) {
  auto m = gpt(name, "huggingface.co/google-bert: config.json", hidden, layers, heads, 30522, 512);
  m.causal = false;
  // Two token types and the pooler; its embedding norm stands for the last norm, which BERT lacks.
  m.extra_parameters = 2 * hidden + hidden * hidden + hidden;
  return m;
}

ModelShape with_experts(ModelShape m, std::int64_t count, std::int64_t per_token, std::int64_t feedforward,
                        std::int64_t shared = 0, std::int64_t first_dense = 0) {
  m.experts.count = count;
  m.experts.per_token = per_token;
  m.experts.feedforward = feedforward;
  m.experts.shared_feedforward = shared;
  m.experts.first_dense_layers = first_dense;
  return m;
}

ModelShape qwen3_moe(const char* name, std::int64_t hidden, std::int64_t layers, std::int64_t heads,
                     std::int64_t kv_heads, std::int64_t feedforward) {
  auto m =
      with_experts(plain({name, kQwen, hidden, layers, heads, kv_heads, 128, 0, 151936, false}), 128, 8, feedforward);
  m.qk_norm = true;
  return m;
}

ModelShape gpt_oss(const char* name, std::int64_t layers, std::int64_t experts) {
  auto m = with_experts(plain({name, "huggingface.co/openai: config.json", 2880, layers, 64, 8, 64, 0, 201088, false}),
                        experts, 4, 2880);
  m.qkv_bias = m.output_bias = m.feedforward_bias = m.experts.router_bias = m.sinks = true;
  m.window = 128;
  m.windowed_layers = layers / 2;
  return m;
}

ModelShape deepseek(const char* name, const char* source, std::int64_t hidden, std::int64_t layers, std::int64_t heads,
                    std::int64_t feedforward, std::int64_t vocabulary, std::int64_t query_rank) {
  auto m = plain({name, source, hidden, layers, heads, heads, 192, feedforward, vocabulary, false});
  m.latent = {query_rank, 512, 64, 128, 128};
  return m;
}

ModelShape deepseek_v3() {
  auto m = with_experts(deepseek("deepseek-v3", "huggingface.co/deepseek-ai/DeepSeek-V3: config.json", 7168, 61, 128,
                                 18432, 129280, 1536),
                        256, 8, 2048, 2048, 3);
  m.experts.router_bias = true;
  m.extra_predictions = 1;
  return m;
}

ModelShape kimi_k2() {
  auto m = with_experts(
      deepseek("kimi-k2", "huggingface.co/moonshotai/Kimi-K2-Base: config.json", 7168, 61, 64, 18432, 163840, 1536),
      384, 8, 2048, 2048, 1);
  m.experts.router_bias = true;
  return m;
}

ModelShape nemotron3(const char* name, const char* source, std::int64_t hidden, std::int64_t layers,
                     std::int64_t attention, std::int64_t states) {
  auto m = plain({name, source, hidden, layers, 32, 2, 128, 0, 131072, false});
  m.gated = false;
  m.hybrid_attention_layers = attention;
  m.states = {states, 0, 64, 128, 8, 4};
  m.experts.router_bias = true;
  return m;
}

ModelShape nemotron3_nano() {
  auto m = with_experts(nemotron3("nemotron-3-nano",
                                  "huggingface.co/nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16: "
                                  "config.json",
                                  2688, 52, 6, 23),
                        128, 6, 1856, 3712);
  m.states.heads = 64;
  return m;
}

ModelShape nemotron3_super() {
  auto m = with_experts(nemotron3("nemotron-3-super",
                                  "huggingface.co/nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-BF16: "
                                  "config.json",
                                  4096, 88, 8, 40),
                        512, 22, 2688, 5376);
  m.states.heads = 128;
  m.experts.latent = 1024;
  return m;
}

void add_experts(std::vector<ModelShape>& all) {
  all.push_back(with_experts(plain({"mixtral-8x7b", kMistral, 4096, 32, 32, 8, 128, 0, 32000, false}), 8, 2, 14336));
  all.push_back(with_experts(plain({"mixtral-8x22b", kMistral, 6144, 56, 48, 8, 128, 0, 32768, false}), 8, 2, 16384));
  all.push_back(qwen3_moe("qwen3-30b-a3b", 2048, 48, 32, 4, 768));
  all.push_back(qwen3_moe("qwen3-235b-a22b", 4096, 94, 64, 4, 1536));
  all.push_back(gpt_oss("gpt-oss-20b", 24, 32));
  all.push_back(gpt_oss("gpt-oss-120b", 36, 128));
  all.push_back(deepseek_v3());
  all.push_back(with_experts(deepseek("deepseek-v2-lite", "huggingface.co/deepseek-ai/DeepSeek-V2-Lite: config.json",
                                      2048, 27, 16, 10944, 102400, 0),
                             64, 6, 1408, 2816, 1));
  all.push_back(kimi_k2());
  all.push_back(
      with_experts(plain({"llama4-scout", kLlama, 5120, 48, 40, 8, 128, 16384, 202048, false}), 16, 1, 8192, 8192));
  // Every second layer is dense.
  all.push_back(with_experts(plain({"llama4-maverick", kLlama, 5120, 48, 40, 8, 128, 16384, 202048, false}), 128, 1,
                             8192, 8192, 24));
  all.push_back(nemotron3_nano());
  all.push_back(nemotron3_super());
}

/// Nemotron 4: grouped queries, a plain feed-forward layer of 4 x hidden, no biases but those of norms.
ModelShape nemotron4(const char* name, const char* source, std::int64_t hidden, std::int64_t layers,
                     std::int64_t heads) {
  auto m = plain({name, source, hidden, layers, heads, 8, hidden / heads, 4 * hidden, 256000, false});
  m.gated = false;
  m.norm_bias = true;
  return m;
}

void add_gpts(std::vector<ModelShape>& all) {
  constexpr const char* kOpenai = "huggingface.co/openai-community: config.json";
  all.push_back(gpt("gpt2", kOpenai, 768, 12, 12, 50257, 1024));
  all.push_back(gpt("gpt2-medium", kOpenai, 1024, 24, 16, 50257, 1024));
  all.push_back(gpt("gpt2-large", kOpenai, 1280, 36, 20, 50257, 1024));
  all.push_back(gpt("gpt2-xl", kOpenai, 1600, 48, 25, 50257, 1024));
  all.push_back(gpt("gpt3-175b", "arXiv 2005.14165, table 2.1", 12288, 96, 96, 50257, 2048));
  all.push_back(gpt("megatron-22b", "arXiv 2205.05198, table 3", 6144, 48, 64, 51200, 2048));
  all.push_back(gpt("turing-530b", "arXiv 2205.05198, table 3", 20480, 105, 128, 51200, 2048));
  all.push_back(gpt("megatron-1t", "arXiv 2205.05198, table 3", 25600, 128, 160, 51200, 2048));
  auto bloom = gpt("bloom-176b", "huggingface.co/bigscience/bloom: config.json", 14336, 70, 112, 250880, 0);
  bloom.extra_parameters = 2 * bloom.hidden;  // the norm of its embedding
  all.push_back(bloom);
  all.push_back(nemotron4("nemotron4-15b", "arXiv 2402.16819, table 1", 6144, 32, 48));
  all.push_back(nemotron4("nemotron4-340b", "arXiv 2406.11704, table 1", 18432, 96, 96));
  all.push_back(mpt("mpt-7b", 4096, 32, 32));
  all.push_back(mpt("mpt-30b", 7168, 48, 64));
  all.push_back(bert("bert-base", 768, 12, 12));
  all.push_back(bert("bert-large", 1024, 24, 16));
}

std::vector<ModelShape> made_catalogue() {
  std::vector<ModelShape> all;
  for (const auto& row : kGated) all.push_back(plain(row));
  for (const auto& row : kQwen2) {
    all.push_back(plain(row));
    all.back().qkv_bias = true;
  }
  for (const auto& row : kQwen3) {
    all.push_back(plain(row));
    all.back().qk_norm = true;
  }
  add_experts(all);
  add_gpts(all);
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return all;
}

/// Small letters and digits alone, without what is in parentheses. Llama 3.1 and 3.3 have the shapes of Llama 3.
std::string key_of(std::string_view name) {
  std::string key;
  int inside = 0;
  for (const char c : name) {
    if (c == '(') ++inside;
    if (inside == 0 && std::isalnum(static_cast<unsigned char>(c)) != 0) {
      key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    if (c == ')' && inside > 0) --inside;
  }
  for (const char* same : {"llama31", "llama33"}) {
    if (key.starts_with(same) && key != "llama31b" && key != "llama33b") key = "llama3" + key.substr(7);
  }
  return key;
}

}  // namespace

const std::vector<ModelShape>& model_catalogue() {
  static const std::vector<ModelShape> all = made_catalogue();
  return all;
}

std::optional<ModelShape> find_model(std::string_view name) {
  const auto key = key_of(name);
  if (key.empty()) return std::nullopt;
  for (const auto& model : model_catalogue()) {
    if (key_of(model.name) == key) return model;
  }
  return std::nullopt;
}

ModelShape model_named(std::string_view name) {
  if (const auto found = find_model(name)) return *found;
  std::string names;
  for (const auto& model : model_catalogue()) names += (names.empty() ? "" : ", ") + model.name;
  fail(ErrorKind::usage, "{} is not a model of the catalogue. Name a config.json, state the shape, or take one of {}.",
       shown(std::string(name)), names);
}

std::optional<StatedSize> stated_size(std::string_view name) {
  StatedSize size;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (std::isdigit(static_cast<unsigned char>(name[i])) == 0) continue;
    const bool begins = i == 0 || std::isalpha(static_cast<unsigned char>(name[i - 1])) == 0 || name[i - 1] == 'a' ||
                        name[i - 1] == 'A';
    auto end = i;
    while (end < name.size() && (std::isdigit(static_cast<unsigned char>(name[end])) != 0 || name[end] == '.')) ++end;
    const char unit = end < name.size() ? static_cast<char>(std::tolower(static_cast<unsigned char>(name[end]))) : ' ';
    const double scale = unit == 'm' ? 1e6 : unit == 'b' ? 1e9 : unit == 't' ? 1e12 : 0;
    const auto value = parse_number<double>(name.substr(i, end - i));
    if (begins && scale > 0 && value && *value > 0)
      (size.parameters > 0 ? size.active : size.parameters) = *value * scale;
    i = end;
  }
  if (size.parameters == 0) return std::nullopt;
  if (size.active == 0 || size.active > size.parameters) size.active = size.parameters;
  return size;
}

ModelShape guessed_model(std::string name, double parameters, double active_parameters) {
  // With grouped queries and a feed-forward layer of 3.5 h a layer has about 12.75 h^2 parameters, and layers grow as
  // about h / 100. Embeddings are taken off once their size is known.
  constexpr double kLayer = 12.75;
  constexpr double kWords = 128256;
  double hidden = std::cbrt(100 * active_parameters / kLayer);
  const double blocks = std::max(active_parameters / 2, active_parameters - 2 * kWords * hidden);
  hidden = std::clamp(std::cbrt(100 * blocks / kLayer), 256.0, 65536.0);
  ModelShape m;
  m.name = std::move(name);
  m.source = "guessed from its size";
  m.head_dim = 128;
  m.hidden = std::max<std::int64_t>(1, std::llround(hidden / 1024)) * 1024;
  m.layers = std::max<std::int64_t>(2, std::llround(blocks / (kLayer * static_cast<double>(m.hidden * m.hidden))));
  m.heads = m.hidden / m.head_dim;
  m.kv_heads = 8;
  m.feedforward = 128 * std::llround(3.5 * static_cast<double>(m.hidden) / 128);
  m.vocabulary = static_cast<std::int64_t>(kWords);
  if (parameters < 1.5 * active_parameters) return m;
  const auto inside = std::max<std::int64_t>(1, m.feedforward / 8);
  const double unit = 3.0 * static_cast<double>(m.layers * m.hidden * inside);
  m = with_experts(m, 8 + std::llround((parameters - active_parameters) / unit), 8, inside);
  return m;
}

}  // namespace assay::predict
