// What sbatch and srun have in common: nearly all of their options, and all that they mean.
// Inside of src/launch only.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launch/vocabulary_options.h"

namespace exa::vocabulary {

// --- what both sides share

std::span<const std::string_view> slurm_shape_options();      // that ask for the shape
std::vector<Family> families_of_gres(std::string_view name);  // whose devices "gpu" names
// A list without the prefixes that newer releases take: "gres/gpu:2" is "gpu:2".
std::string plain_gres(std::string_view list);

void read_slurm(const OptionText& options, Reading& reading);

// The options that ask for the shape, one each.
std::vector<std::string> slurm_options(const Writing& writing);

// Into a text that is there: the options of the shape in the place of those that asked before.
void rewrite_slurm(const Writing& writing, const OptionGrammar& grammar, Source& target);

bool asks_for_anything(const Parts& parts);    // of devices, cpu, memory, nodes
bool is_options_alone(std::string_view text);  // "-N2 --mem=8G"

// The GRES type that a hint is asked for as: the site's own word where the hint is one (lower case,
// as Slurm prints types), else the model's series; empty where it cannot be a type.
std::string gres_type(std::string_view hint);

}  // namespace exa::vocabulary
