#include "assay/predict/models/hf_config.hpp"

#include <algorithm>
#include <array>

#include "assay/core/text/file.hpp"
#include "assay/predict/models/catalogue.hpp"

namespace assay::predict {
namespace {

constexpr std::size_t kMostConfigBytes = 1u << 20;
constexpr std::int64_t kMostConfigNumber = 1'000'000'000;

/// Fields of a config.json, each read with its name in messages.
class ConfigFields {
 public:
  ConfigFields(const json& object, std::string file) : object_(object), file_(std::move(file)) {}

  bool has(const char* field) const { return object_.contains(field) && !object_.at(field).is_null(); }

  std::int64_t count(const char* field) const {
    if (!has(field)) wrong(field, "is missing");
    const auto& value = object_.at(field);
    if (!value.is_number_integer() || value < 0 || value > kMostConfigNumber) {
      wrong(field, "is " + shown(value.dump()) + "; it is a whole number up to 1,000,000,000");
    }
    return value.get<std::int64_t>();
  }

  std::int64_t count_or(const char* field, std::int64_t otherwise) const {
    return has(field) ? count(field) : otherwise;
  }

  bool flag(const char* field, bool otherwise) const {
    if (!has(field)) return otherwise;
    if (!object_.at(field).is_boolean())
      wrong(field, "is " + shown(object_.at(field).dump()) + "; it is true or false");
    return object_.at(field).get<bool>();
  }

  std::string text(const char* field) const {
    if (!has(field)) return "";
    if (!object_.at(field).is_string()) wrong(field, "is " + shown(object_.at(field).dump()) + "; it is text");
    return object_.at(field).get<std::string>();
  }

  ConfigFields inner(const char* field) const {
    static const json none = json::object();
    if (!has(field)) return {none, file_};
    if (!object_.at(field).is_object()) wrong(field, "is not an object");
    return {object_.at(field), file_};
  }

  const json& at(const char* field) const { return object_.at(field); }

  [[noreturn]] void wrong(const char* field, const std::string& what) const {
    fail(ErrorKind::bad_input, "{}: {} {}.", file_, field, what);
  }

 private:
  const json& object_;
  std::string file_;
};

/// What nearly all families name alike.
ModelShape common_shape(const ConfigFields& c) {
  ModelShape m;
  m.hidden = c.count("hidden_size");
  m.layers = c.count("num_hidden_layers");
  m.heads = c.count("num_attention_heads");
  m.kv_heads = c.count_or("num_key_value_heads", m.heads);
  m.vocabulary = c.count("vocab_size");
  if (m.heads == 0) c.wrong("num_attention_heads", "is 0");
  m.head_dim = c.count_or("head_dim", m.hidden / m.heads);
  m.tied = c.flag("tie_word_embeddings", false);
  return m;
}

ModelShape read_llama(const ConfigFields& c) {
  auto m = common_shape(c);
  m.feedforward = c.count("intermediate_size");
  m.qkv_bias = m.output_bias = c.flag("attention_bias", false);
  m.feedforward_bias = c.flag("mlp_bias", false);
  return m;
}

ModelShape read_mixtral(const ConfigFields& c) {
  auto m = common_shape(c);
  m.experts.count = c.count("num_local_experts");
  m.experts.per_token = c.count("num_experts_per_tok");
  m.experts.feedforward = c.count("intermediate_size");
  return m;
}

ModelShape read_qwen2(const ConfigFields& c) {
  auto m = read_llama(c);
  m.qkv_bias = true;
  m.output_bias = false;
  return m;
}

ModelShape read_qwen3(const ConfigFields& c) {
  auto m = read_llama(c);
  m.qk_norm = true;
  return m;
}

ModelShape read_qwen3_moe(const ConfigFields& c) {
  auto m = read_qwen3(c);
  m.experts.count = c.has("num_experts") ? c.count("num_experts") : c.count("num_local_experts");
  m.experts.per_token = c.count("num_experts_per_tok");
  m.experts.feedforward = c.count("moe_intermediate_size");
  return m;
}

ModelShape read_deepseek(const ConfigFields& c) {
  auto m = common_shape(c);
  m.feedforward = c.count("intermediate_size");
  m.latent.query_rank = c.count_or("q_lora_rank", 0);
  m.latent.kv_rank = c.count("kv_lora_rank");
  m.latent.rope_dim = c.count("qk_rope_head_dim");
  m.latent.nope_dim = c.count("qk_nope_head_dim");
  m.latent.value_dim = c.count("v_head_dim");
  m.head_dim = m.latent.rope_dim + m.latent.nope_dim;
  m.kv_heads = m.heads;
  m.experts.count = c.count_or("n_routed_experts", 0);
  if (m.experts.count == 0) return m;
  m.experts.per_token = c.count("num_experts_per_tok");
  m.experts.feedforward = c.count("moe_intermediate_size");
  m.experts.shared_feedforward = c.count_or("n_shared_experts", 0) * m.experts.feedforward;
  m.experts.first_dense_layers = c.count_or("first_k_dense_replace", 0);
  m.experts.router_bias = c.text("topk_method") == "noaux_tc" || c.text("scoring_func") == "sigmoid";
  m.extra_predictions = c.count_or("num_nextn_predict_layers", 0);
  return m;
}

ModelShape read_gpt_oss(const ConfigFields& c) {
  auto m = common_shape(c);
  m.experts.count = c.count("num_local_experts");
  m.experts.per_token = c.has("num_experts_per_tok") ? c.count("num_experts_per_tok") : c.count("experts_per_token");
  m.experts.feedforward = c.count("intermediate_size");
  m.qkv_bias = m.output_bias = m.feedforward_bias = m.experts.router_bias = m.sinks = true;
  m.window = c.count_or("sliding_window", 0);
  m.windowed_layers = m.window > 0 ? m.layers / 2 : 0;
  return m;
}

/// Each layer is of one kind, by a letter: M a state, * attention, E experts, - a dense feed-forward layer.
ModelShape read_nemotron_h(const ConfigFields& c) {
  auto m = common_shape(c);
  const auto pattern = c.text("hybrid_override_pattern");
  if (pattern.empty()) c.wrong("hybrid_override_pattern", "is missing");
  const auto letters = [&](char letter) { return std::count(pattern.begin(), pattern.end(), letter); };
  m.gated = false;
  m.states = {letters('M'),        c.count("mamba_num_heads"),  c.count("mamba_head_dim"), c.count("ssm_state_size"),
              c.count("n_groups"), c.count_or("conv_kernel", 4)};
  m.hybrid_attention_layers = letters('*');
  m.feedforward = c.count_or("intermediate_size", 0);
  if (letters('E') > 0 && letters('-') > 0) {
    c.wrong("hybrid_override_pattern", "mixes dense layers and experts, which is not known");
  }
  if (letters('E') == 0) return m;
  m.experts.count = c.count("n_routed_experts");
  m.experts.per_token = c.count("num_experts_per_tok");
  m.experts.feedforward = c.count("moe_intermediate_size");
  m.experts.shared_feedforward = c.count_or("moe_shared_expert_intermediate_size", 0);
  m.experts.latent = c.count_or("moe_latent_size", 0);
  m.experts.router_bias = true;
  return m;
}

void set_biases(ModelShape& m, bool there) {
  m.gated = false;
  m.norm_bias = m.qkv_bias = m.output_bias = m.feedforward_bias = there;
}

ModelShape read_gpt2(const ConfigFields& c) {
  ModelShape m;
  m.hidden = c.count("n_embd");
  m.layers = c.count("n_layer");
  m.heads = m.kv_heads = c.count("n_head");
  m.vocabulary = c.count("vocab_size");
  if (m.heads == 0) c.wrong("n_head", "is 0");
  m.head_dim = m.hidden / m.heads;
  m.feedforward = c.count_or("n_inner", 4 * m.hidden);
  m.positions = c.has("n_positions") ? c.count("n_positions") : c.count("n_ctx");
  m.tied = c.flag("tie_word_embeddings", true);
  set_biases(m, true);
  return m;
}

ModelShape read_bert(const ConfigFields& c) {
  auto m = common_shape(c);
  m.feedforward = c.count("intermediate_size");
  m.positions = c.count("max_position_embeddings");
  m.tied = true;
  m.causal = false;
  set_biases(m, true);
  // Token types and the pooler; its embedding norm stands for the last norm, which BERT lacks.
  m.extra_parameters = c.count_or("type_vocab_size", 2) * m.hidden + m.hidden * m.hidden + m.hidden;
  return m;
}

ModelShape read_mpt(const ConfigFields& c) {
  ModelShape m;
  m.hidden = c.count("d_model");
  m.layers = c.count("n_layers");
  m.heads = m.kv_heads = c.count("n_heads");
  m.vocabulary = c.count("vocab_size");
  if (m.heads == 0) c.wrong("n_heads", "is 0");
  m.head_dim = m.hidden / m.heads;
  m.feedforward = c.count_or("expansion_ratio", 4) * m.hidden;
  m.tied = true;
  const auto attention = c.inner("attn_config");
  const bool positions = c.flag("learned_pos_emb", true) && !attention.flag("alibi", false);
  m.positions = positions ? c.count("max_seq_len") : 0;
  set_biases(m, !c.flag("no_bias", false));
  return m;
}

struct Family {
  const char* type;
  ModelShape (*read)(const ConfigFields&);
};

constexpr std::array kFamilies{Family{"llama", read_llama},
                               Family{"mistral", read_llama},
                               Family{"mixtral", read_mixtral},
                               Family{"qwen2", read_qwen2},
                               Family{"qwen3", read_qwen3},
                               Family{"qwen3_moe", read_qwen3_moe},
                               Family{"deepseek_v2", read_deepseek},
                               Family{"deepseek_v3", read_deepseek},
                               Family{"kimi_k2", read_deepseek},
                               Family{"gpt_oss", read_gpt_oss},
                               Family{"nemotron_h", read_nemotron_h},
                               Family{"gpt2", read_gpt2},
                               Family{"bert", read_bert},
                               Family{"mpt", read_mpt}};

}  // namespace

ModelShape parse_hf_config(std::string_view text, const std::string& file_name) {
  JsonLimits limits;
  limits.bytes = kMostConfigBytes;
  json object;
  try {
    object = parse_json(text, limits);
  } catch (const Error& error) {
    fail(ErrorKind::bad_input, "{}: {}", file_name, error.what());
  }
  if (!object.is_object()) fail(ErrorKind::bad_input, "{}: a config.json is an object.", file_name);
  const ConfigFields fields(object, file_name);
  const auto type = fields.text("model_type");
  const auto family = std::find_if(kFamilies.begin(), kFamilies.end(), [&](const auto& f) { return type == f.type; });
  if (family == kFamilies.end()) {
    std::string known;
    for (const auto& one : kFamilies) known += (known.empty() ? "" : ", ") + std::string(one.type);
    fail(ErrorKind::bad_input, "{}: model_type is {}; known ones are {}.", file_name, shown(type), known);
  }
  auto shape = family->read(fields);
  shape.name = file_name;
  shape.source = file_name;
  check(shape);
  return shape;
}

ModelShape read_hf_config(const std::string& path) {
  const auto text = read_file(path, kMostConfigBytes);
  if (text.size() > kMostConfigBytes) fail(ErrorKind::bad_input, "{} is larger than 1 MiB.", path);
  return parse_hf_config(text, path);
}

bool is_hf_config(const std::string& name) {
  return name.ends_with(".json");
}

ModelShape named_or_read_model(const std::string& name) {
  return is_hf_config(name) ? read_hf_config(name) : model_named(name);
}

}  // namespace assay::predict
