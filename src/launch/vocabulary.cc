#include "launch/vocabulary.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "launch/vocabulary_table.h"
#include "launch/vocabulary_text.h"

namespace exa {

using vocabulary::Parts;
using vocabulary::read_source;
using vocabulary::Reading;
using vocabulary::Source;
using vocabulary::Writing;

namespace {

constexpr std::array kVocabularies = {
    Vocabulary{"sbatch", "the head of a Slurm batch script, or its options",
               vocabulary::is_slurm_script, vocabulary::recognises_sbatch, vocabulary::read_sbatch,
               vocabulary::write_sbatch},
    Vocabulary{"srun", "a Slurm command line", vocabulary::is_slurm_script,
               vocabulary::recognises_srun, vocabulary::read_srun, vocabulary::write_srun},
    Vocabulary{"flux", "the head of a Flux batch script, its options, or a jobspec",
               vocabulary::is_flux_script, vocabulary::recognises_flux, vocabulary::read_flux,
               vocabulary::write_flux},
    Vocabulary{"kubernetes", "a Pod, or anything with a Pod in it", nullptr,
               vocabulary::recognises_kubernetes, vocabulary::read_kubernetes,
               vocabulary::write_kubernetes},
    Vocabulary{"compose", "a Docker Compose service", nullptr, vocabulary::recognises_compose,
               vocabulary::read_compose, vocabulary::write_compose},
    Vocabulary{"ray", "the options of a Ray actor or Ray Serve deployment", nullptr,
               vocabulary::recognises_ray, vocabulary::read_ray, vocabulary::write_ray},
    Vocabulary{"skypilot", "a SkyPilot task", nullptr, vocabulary::recognises_skypilot,
               vocabulary::read_skypilot, vocabulary::write_skypilot},
    Vocabulary{"dstack", "a dstack fleet or run", nullptr, vocabulary::recognises_dstack,
               vocabulary::read_dstack, vocabulary::write_dstack},
    Vocabulary{"kueue", "a Kueue flavor, queue and workload", nullptr, vocabulary::recognises_kueue,
               vocabulary::read_kueue, vocabulary::write_kueue},
    Vocabulary{"openshift-ai", "an OpenShift AI hardware profile", nullptr,
               vocabulary::recognises_openshift_ai, vocabulary::read_openshift_ai,
               vocabulary::write_openshift_ai},
    Vocabulary{"palette", "a PaletteAI compute profile", nullptr, vocabulary::recognises_palette,
               vocabulary::read_palette, vocabulary::write_palette},
    Vocabulary{"rafay", "a Rafay compute profile", nullptr, vocabulary::recognises_rafay,
               vocabulary::read_rafay, vocabulary::write_rafay},
    Vocabulary{"kubespawner", "an entry of KubeSpawner's profile list", nullptr,
               vocabulary::recognises_kubespawner, vocabulary::read_kubespawner,
               vocabulary::write_kubespawner},
};

// Against what writing the shape would say: what a vocabulary has no word for, or rounds, differs
// from the shape and is no reason to write it again.
bool devices_differ(const Reading& there, const Reading& wanted) {
  const Shape& a = there.shape();
  const Shape& b = wanted.shape();
  const std::string& hint = a.accelerator_model_hint;
  const bool same_hint = hint.empty() == b.accelerator_model_hint.empty() &&
                         vocabulary::same_models(hint, b.accelerator_model_hint);
  return there.said("accelerator_family") != wanted.said("accelerator_family") ||
         a.accelerator_family != b.accelerator_family || !same_hint || a.gpu_count != b.gpu_count ||
         a.gpu_fraction_milli != b.gpu_fraction_milli || a.mig_profile != b.mig_profile;
}

Parts differing_parts(const Reading& there, const Reading& wanted) {
  const Shape& a = there.shape();
  const Shape& b = wanted.shape();
  return {.devices = devices_differ(there, wanted),
          .cpu = a.cpu_milli != b.cpu_milli,
          .memory = a.memory_bytes != b.memory_bytes,
          .nodes = a.nodes != b.nodes,
          .description = a.description != b.description,
          .applicability = a.applicability != b.applicability,
          .tags = a.driver_tag != b.driver_tag || a.runtime_tag != b.runtime_tag};
}

// Fields in the shape's order, then the places that are to be filled in.
void sort_notes(std::vector<VocabularyNote>& notes) {
  const auto place = [](const VocabularyNote& note) {
    return std::ranges::find(shape_fields(), std::string_view(note.where)) - shape_fields().begin();
  };
  std::ranges::stable_sort(notes, {}, place);
}

std::string called(const ForeignText& text) {
  return text.file.empty() ? "the command line" : std::string(text.file);
}

}  // namespace

json::object to_json(const VocabularyNote& note) {
  json::object object;
  object.emplace("where", note.where);
  object.emplace("message", note.message);
  return object;
}

std::span<const Vocabulary> vocabularies() {
  return kVocabularies;
}

const Vocabulary* find_vocabulary(std::string_view name) {
  const auto* found = std::ranges::find(kVocabularies, name, &Vocabulary::name);
  return found == kVocabularies.end() ? nullptr : found;
}

std::vector<std::string_view> vocabulary_names() {
  std::vector<std::string_view> names;
  for (const Vocabulary& row : kVocabularies) names.push_back(row.name);
  return names;
}

RenderedShape render_shape(const Vocabulary& vocabulary, const Shape& shape,
                           std::string_view name) {
  RenderedShape rendered;
  Source target;
  vocabulary.write(Writing{shape, name, Parts{}, true, &rendered.notes}, target);
  rendered.text = to_text(target);
  sort_notes(rendered.notes);
  return rendered;
}

Result<RenderedShape> render_shape_over(const Vocabulary& vocabulary, const Shape& shape,
                                        std::string_view name, const ForeignText& over) {
  EXA_ASSIGN(Source target, read_source(vocabulary, over));
  Reading reading(target);
  vocabulary.read(target, reading);
  if (!reading.problems.empty()) return fail(invalid(called(over), std::move(reading.problems)));
  RenderedShape rendered;
  // what has no word is noted although nothing of it is to be written
  Source alone;
  vocabulary.write(Writing{shape, name, Parts{}, true, &rendered.notes}, alone);
  // places to be filled in are those of the text that is there
  std::erase_if(rendered.notes,
                [](const VocabularyNote& note) { return note.where.starts_with('/'); });
  Reading wanted(alone);
  vocabulary.read(alone, wanted);
  const Parts parts = differing_parts(reading, wanted);
  vocabulary.write(Writing{shape, name, parts, false, &rendered.notes}, target);
  rendered.text = to_text(target);
  sort_notes(rendered.notes);
  return rendered;
}

Result<ImportedShape> import_shape(const Vocabulary& vocabulary, const ForeignText& text) {
  EXA_ASSIGN(const Source source, read_source(vocabulary, text));
  Reading reading(source);
  vocabulary.read(source, reading);
  if (!reading.problems.empty()) return fail(invalid(called(text), std::move(reading.problems)));
  reading.note_the_rest();
  return ImportedShape{reading.fields(), reading.places(), reading.open_fields(),
                       std::move(reading.notes)};
}

Result<const Vocabulary*> recognise_vocabulary(const ForeignText& text) {
  std::vector<const Vocabulary*> found;
  std::optional<Error> unreadable;
  for (const Vocabulary& row : kVocabularies) {
    const Result<Source> source = read_source(row, text);
    if (!source) {
      unreadable = source.error();
    } else if (row.recognises(*source)) {
      found.push_back(&row);
    }
  }
  if (found.size() == 1) return found.front();
  // nothing can be known about a text that is no YAML, unless it is a script
  if (found.empty() && unreadable) return fail(*std::move(unreadable));
  Error error;
  error.code = Code::invalid_input;
  for (const Vocabulary* row : found) error.alternatives.emplace_back(row->name);
  if (found.empty())
    for (const std::string_view name : vocabulary_names()) error.alternatives.emplace_back(name);
  error.message = fmt::format("{} {}; say which with --as", called(text),
                              found.empty() ? "is of no vocabulary that its content tells"
                                            : "could be of several vocabularies");
  error.next = "exa hardware profile import FILE --as VOCABULARY";
  return fail(std::move(error));
}

}  // namespace exa
