#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/model/tables/frame.hpp"
#include "assay/predict/calibration/calibrate.hpp"
#include "assay/predict/transformer/transformer.hpp"

namespace assay::bench {

/// A row of ddl_2020.csv (docs/published.md), with what the published programs are known to do.
struct PublishedStep {
  std::string network;
  std::string method;
  double samples_per_second = 0;
  double batch = 0;            ///< of all devices
  predict::MeasuredStep step;  ///< seconds as published
};

/// Gradients of one node of a network, which are there once its backward pass is done.
struct PublishedNode {
  double flops = 0;  ///< forward, for one sample
  std::vector<double> gradient_bytes;
};

/// The network as it was trained, in the order of the forward pass: resnet50 is ours; the BERTs have the heads for
/// pre-training and 30,528 words. The matrix of words is also that of the output, so its gradient is there last.
std::vector<PublishedNode> published_network(const std::string& name);

/// All rows of one frame whose method is bsp-a2a, wfbp-a2a or mg-wfbp. `alone_in` has the rows of one device.
std::vector<PublishedStep> published_steps(const model::Frame& frame, const model::Frame& alone_in);

/// All rows of one frame whose method is bsp-ps, wfbp-ps or bytescheduler-ps: as many servers as nodes that train, on
/// nodes of their own, as the published program starts them. A link is one of a network and of a program, because rows
/// of 8 devices on 100gbe/tcp show two rates.
std::vector<PublishedStep> published_server_steps(const model::Frame& frame, const model::Frame& alone_in);

/// A row of megatron_2022.csv (docs/published.md).
struct PublishedTransformer {
  std::string network;
  predict::TransformerShape shape;
  predict::TransformerPlan plan;
  double seconds = 0;
};

std::vector<PublishedTransformer> published_transformers(const model::Frame& frame);

}  // namespace assay::bench
