#include <gtest/gtest.h>

#include "assay/predict/models/catalogue.hpp"
#include "assay/predict/models/hf_config.hpp"

namespace assay::predict {
namespace {

struct Published {
  const char* name;
  std::int64_t parameters;
};

// Numbers of parameters as the checkpoints at huggingface.co state them (safetensors), to the last one.
constexpr Published kExact[]{
    {"llama2-7b", 6'738'415'616},      {"llama2-70b", 68'976'648'192},       {"llama3-8b", 8'030'261'248},
    {"llama3-70b", 70'553'706'496},    {"llama3-405b", 405'853'388'800},     {"llama3.2-1b", 1'235'814'400},
    {"mistral-7b", 7'241'732'096},     {"mixtral-8x7b", 46'702'792'704},     {"qwen2.5-7b", 7'615'616'512},
    {"qwen2.5-72b", 72'706'203'648},   {"qwen3-8b", 8'190'735'360},          {"qwen3-32b", 32'762'123'264},
    {"qwen3-30b-a3b", 30'532'122'624}, {"qwen3-235b-a22b", 235'093'634'560}, {"gpt2", 124'439'808},
    {"gpt2-xl", 1'557'611'200},        {"bert-base", 109'482'240},           {"bert-large", 335'141'888},
    {"mpt-7b", 6'649'286'656},         {"bloom-176b", 176'247'271'424}};

struct Rounded {
  const char* name;
  double billions;
  double active_billions;
  double within;  // half of the last digit that is published
};

// As model cards and reports state them: DeepSeek-V3 671B and 37B (arXiv 2412.19437), Kimi K2 1.04T and 32.6B (arXiv
// 2507.20534, which counts embeddings once less), GPT-OSS 116.83B and 20.91B (its model card, table 1), Nemotron 3 Nano
// 31.6B and 3.6B (arXiv 2512.20848), Super 120.6B and 12.7B (its report), GPT-3 175B (arXiv 2005.14165), Llama 4 Scout
// 109B and 17B, Maverick 400B and 17B (model card, with eyes of about 1B), Nemotron 4 12.5 + 3.1 billion (arXiv
// 2402.16819) and 331.6 + 9.4 billion (arXiv 2406.11704).
constexpr Rounded kRounded[]{
    {"deepseek-v3", 671, 37, .6},        {"gpt-oss-120b", 116.83, 0, .005},     {"gpt-oss-20b", 20.91, 0, .005},
    {"nemotron-3-nano", 31.6, 3.6, .06}, {"nemotron-3-super", 120.6, 12.7, .2}, {"gpt3-175b", 175, 0, .5},
    {"kimi-k2", 1030, 32.5, 10},         {"llama4-scout", 109, 17, 2},          {"llama4-maverick", 400, 17, 2},
    {"nemotron4-15b", 15.6, 0, .06},     {"nemotron4-340b", 341.0, 0, .06}};

TEST(Models, ParametersAreThoseOfPublishedCheckpoints) {
  for (const auto& one : kExact) EXPECT_EQ(parameters_of(model_named(one.name)), one.parameters) << one.name;
}

TEST(Models, ParametersAreThoseOfReports) {
  for (const auto& one : kRounded) {
    const auto shape = model_named(one.name);
    EXPECT_NEAR(1e-9 * static_cast<double>(parameters_of(shape)), one.billions, one.within) << one.name;
    if (one.active_billions > 0) {
      EXPECT_NEAR(1e-9 * static_cast<double>(active_parameters_of(shape)), one.active_billions,
                  one.active_billions * .02)
          << one.name;
    }
  }
}

TEST(Models, EveryModelOfTheCatalogueHasASourceAndAddsUp) {
  for (const auto& model : model_catalogue()) {
    EXPECT_NO_THROW(check(model)) << model.name;
    EXPECT_FALSE(model.source.empty()) << model.name;
    EXPECT_LE(active_parameters_of(model), parameters_of(model)) << model.name;
  }
}

TEST(Models, ANameIsFoundHoweverItIsWritten) {
  for (const char* name : {"LLAMA3.1_405B", "llama3-405b", "Llama3.1-405B (BF16)"}) {
    ASSERT_TRUE(find_model(name)) << name;
    EXPECT_EQ(find_model(name)->layers, 126) << name;
  }
  EXPECT_EQ(model_named("GPT OSS 120B").layers, 36);
  EXPECT_EQ(model_named("Qwen3_30B_a3B (tokendrop)").experts.count, 128);
  EXPECT_EQ(model_named("DeepSeekV3 (w/o MTP)").layers, 61);
  EXPECT_FALSE(find_model("llama9-8b"));
  EXPECT_THROW(model_named("llama9-8b"), Error);
}

TEST(Models, SizesAreReadFromNames) {
  EXPECT_EQ(stated_size("LLAMA9_70B")->parameters, 70e9);
  EXPECT_EQ(stated_size("Qwen9_30B_a3B")->active, 3e9);
  EXPECT_EQ(stated_size("350m")->parameters, 350e6);
  EXPECT_FALSE(stated_size("bert"));
  const auto guessed = guessed_model("x", 70e9, 70e9);
  EXPECT_NEAR(static_cast<double>(parameters_of(guessed)), 70e9, 7e9);
  const auto experts = guessed_model("x", 235e9, 22e9);
  EXPECT_NEAR(static_cast<double>(parameters_of(experts)), 235e9, 24e9);
  EXPECT_NO_THROW(check(experts));
}

// The config.json of meta-llama/Meta-Llama-3-8B, without what does not shape it.
constexpr const char* kLlama8b = R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
  "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "tie_word_embeddings": false,
  "attention_bias": false, "vocab_size": 128256, "rope_theta": 500000.0})";

TEST(HfConfig, GivesTheShapeOfTheCatalogue) {
  EXPECT_EQ(parameters_of(parse_hf_config(kLlama8b, "config.json")), 8'030'261'248);
  const auto v3 = parse_hf_config(R"({"model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432,
    "num_attention_heads": 128, "num_hidden_layers": 61, "num_key_value_heads": 128, "vocab_size": 129280,
    "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128,
    "n_routed_experts": 256, "num_experts_per_tok": 8, "moe_intermediate_size": 2048, "n_shared_experts": 1,
    "first_k_dense_replace": 3, "topk_method": "noaux_tc", "num_nextn_predict_layers": 1})",
                                  "c");
  EXPECT_EQ(parameters_of(v3), parameters_of(model_named("deepseek-v3")));
  EXPECT_EQ(v3.extra_predictions, 1);
}

TEST(HfConfig, OtherFamiliesGiveTheirPublishedNumbers) {
  const auto gpt2 = R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257,
    "n_positions": 1024})";
  EXPECT_EQ(parameters_of(parse_hf_config(gpt2, "c")), 124'439'808);
  const auto bert = R"({"model_type": "bert", "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
    "intermediate_size": 3072, "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2})";
  EXPECT_EQ(parameters_of(parse_hf_config(bert, "c")), 109'482'240);
  const auto mpt = R"({"model_type": "mpt", "d_model": 4096, "n_layers": 32, "n_heads": 32, "expansion_ratio": 4,
    "vocab_size": 50432, "no_bias": true, "attn_config": {"alibi": true}, "max_seq_len": 2048})";
  EXPECT_EQ(parameters_of(parse_hf_config(mpt, "c")), 6'649'286'656);
  const auto mixtral = R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336,
    "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 32000,
    "num_local_experts": 8, "num_experts_per_tok": 2})";
  EXPECT_EQ(parameters_of(parse_hf_config(mixtral, "c")), 46'702'792'704);
}

TEST(HfConfig, SaysWhatIsWrong) {
  const auto message = [](const char* text) -> std::string {
    try {
      static_cast<void>(parse_hf_config(text, "config.json"));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message(R"({"model_type": "rwkv"})").find("; known ones are llama"), std::string::npos);
  EXPECT_NE(message(R"({"model_type": "llama"})").find("hidden_size is missing"), std::string::npos);
  EXPECT_NE(message(R"({"model_type": "llama", "hidden_size": "wide"})").find("hidden_size is"), std::string::npos);
  EXPECT_NE(message("[").find("config.json: "), std::string::npos);
}

}  // namespace
}  // namespace assay::predict
