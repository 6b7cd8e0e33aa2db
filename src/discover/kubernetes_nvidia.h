// NVIDIA's labels (GPU feature discovery, GKE, Karpenter) and resource names, and the small pieces
// that every vendor's reading shares.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "discover/kubernetes_cards.h"

namespace exa::kubernetes {

void nvidia_cards(const Labels& labels, const std::vector<Resource>& resources,
                  std::vector<CardSet>& out);

// "0" of a resource means configured away (a MIG profile that is not cut now).
bool is_offered(const Resource& resource);
Offer offer_of(const Resource& resource);  // whole
// A resource of a known vendor that is no card as far as anyone said: kept, never counted as one.
CardSet strange_resource(const Resource& resource, std::string_view why);

class Remarks {
 public:
  void add(std::string text);
  void unhealthy(const Resource& resource);  // capacity minus allocatable
  std::string text() const;

 private:
  std::vector<std::string> texts_;
};

}  // namespace exa::kubernetes
