#include "launch/serving_file.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "base/yaml.h"
#include "launch/launch_spec.h"
#include "profile/validate.h"

namespace exa {
namespace {

constexpr ServingEngine kEngines[] = {ServingEngine::ray, ServingEngine::kserve,
                                      ServingEngine::kubernetes, ServingEngine::vllm};
constexpr int64_t kMostReplicas = 10'000;

std::vector<std::string> engine_names() {
  std::vector<std::string> names;
  for (const ServingEngine engine : kEngines) names.emplace_back(name(engine));
  return names;
}

// One model of the file while it is read: where its values stand, and where problems go.
struct Reader {
  const YamlDocument& document;
  std::string_view file;
  std::string base;  // pointer of the model
  std::vector<Problem>& problems;

  std::string place(std::string_view inside) const {
    return place_of(document, base + std::string(inside), file);
  }
  void say(std::string_view inside, std::string message, std::string suggestion = {}) const {
    problems.push_back({place(inside), std::move(message), std::move(suggestion)});
  }
};

// --- values of one kind; a problem is said, and nothing is read

std::string as_written(const json::value& value) {
  return printable(to_text(value));
}

bool read_text(const json::value& value, const Reader& reader, const std::string& where,
               std::string& out) {
  if (!value.is_string()) {
    const bool scalar = value.is_number() || value.is_bool();
    reader.say(where, fmt::format("must be a text, not {}", as_written(value)),
               scalar ? fmt::format("write \"{}\"", as_written(value)) : "");
    return false;
  }
  if (trim(value.get_string()).empty()) {
    reader.say(where, "is empty");
    return false;
  }
  if (value.get_string().find_first_of(std::string_view("\0\n\r", 3)) != std::string::npos) {
    reader.say(where, "holds a line break or a NUL byte, which cannot be passed on");
    return false;
  }
  out = value.get_string();
  return true;
}

bool read_count(const json::value& value, const Reader& reader, const std::string& where,
                int64_t least, int64_t most, int64_t& out) {
  if (!value.is_int64()) {
    reader.say(where, fmt::format("must be a whole number, not {}", as_written(value)));
    return false;
  }
  if (value.get_int64() < least || value.get_int64() > most) {
    reader.say(where, fmt::format("must be {} to {}, not {}", least, most, value.get_int64()));
    return false;
  }
  out = value.get_int64();
  return true;
}

// Words of a command line; empty ones are words too.
void read_words(const json::value& value, const Reader& reader, const std::string& where,
                std::vector<std::string>& out) {
  if (!value.is_array())
    return reader.say(where, fmt::format("must be a list of texts, not {}", as_written(value)));
  for (size_t i = 0; i < value.get_array().size(); ++i) {
    const json::value& word = value.get_array()[i];
    std::string text;
    if (word == json::value("")) {
      out.emplace_back();
    } else if (read_text(word, reader, fmt::format("{}/{}", where, i), text)) {
      out.push_back(std::move(text));
    }
  }
}

void read_environment(const json::value& value, const Reader& reader, const std::string& where,
                      Variables& out) {
  if (!value.is_object())
    return reader.say(where, fmt::format("must be names and texts, not {}", as_written(value)));
  for (const auto& member : value.get_object()) {
    const std::string inside = pointer(where, member.key());
    std::string text;
    if (member.value() != json::value("") && !read_text(member.value(), reader, inside, text))
      continue;
    const Variables one{{member.key(), text}};
    for (const Problem& problem : problems_of({"x"}, one)) reader.say(inside, problem.message);
    out.push_back(one.front());
  }
}

// Unknown keys of a map, with the nearest that are known.
void refuse_unknown(const json::object& object, const Reader& reader, const std::string& where,
                    const std::vector<std::string>& known, std::string_view of) {
  for (const auto& member : object) {
    if (std::ranges::find(known, std::string_view(member.key())) != known.end()) continue;
    std::string near = did_you_mean(member.key(), known);
    if (near.empty()) near = fmt::format("there are {}", join(known, ", "));
    reader.say(pointer(where, member.key()),
               fmt::format("\"{}\" is no key of {}", printable(member.key()), of), std::move(near));
  }
}

// --- resources

struct ResourceKey {
  std::string_view key;
  std::string_view field;  // of the shape; empty: the profile
};
constexpr ResourceKey kResourceKeys[] = {
    {"hardware_profile", ""},
    {"accelerator_family", "accelerator_family"},
    {"accelerator_model_hint", "accelerator_model_hint"},
    {"gpu", "gpu_count"},
    {"gpu_fraction", "gpu_fraction"},
    {"mig_profile", "mig_profile"},
    {"cpu", "cpu"},
    {"memory_gb", "memory_gb"},
    {"nodes", "nodes"},
};

// The field alone, without judging it beside others: the profile that they come from is not known
// here.
void check_field(std::string_view field, const json::value& value, const Reader& reader,
                 const std::string& where) {
  for (const Problem& problem : problems_of_shape({{field, value}})) {
    if (problem.where == pointer("", field)) reader.say(where, problem.message, problem.suggestion);
  }
}

void read_resources(const json::value& value, const Reader& reader, const std::string& where,
                    ServedModel& model) {
  if (!value.is_object())
    return reader.say(where, fmt::format("must be names and values, not {}", as_written(value)));
  std::vector<std::string> known;
  for (const ResourceKey& row : kResourceKeys) known.emplace_back(row.key);
  refuse_unknown(value.get_object(), reader, where, known, "resources");
  for (const ResourceKey& row : kResourceKeys) {
    const json::value* given = find(value, row.key);
    if (given == nullptr) continue;
    const std::string inside = pointer(where, row.key);
    if (!row.field.empty()) {
      check_field(row.field, *given, reader, inside);
      model.resources.given[row.field] = *given;
      model.resources.places.emplace(row.field, reader.place(inside));
      continue;
    }
    std::string text;
    if (!read_text(*given, reader, inside, text)) continue;
    const auto reference = parse_reference(text);
    model.resources.places.emplace("hardware_profile", reader.place(inside));
    if (reference) {
      model.resources.profile = *reference;
    } else {
      reader.say(inside, reference.error().message);
    }
  }
}

// --- replicas

void read_autoscaling(const json::value& value, const Reader& reader, const std::string& where,
                      ServedModel& model) {
  if (!value.is_object())
    return reader.say(where, fmt::format("must be min and max, not {}", as_written(value)));
  refuse_unknown(value.get_object(), reader, where, {"min", "max", "target"}, "autoscaling");
  Replicas& replicas = model.replicas;
  replicas.automatic = true;
  const auto number = [&](std::string_view key, int64_t least, int64_t& out) {
    const json::value* given = find(value, key);
    if (given != nullptr)
      return read_count(*given, reader, pointer(where, key), least, kMostReplicas, out);
    reader.say(where, fmt::format("{} is missing", key));
    return false;
  };
  const bool low = number("min", 0, replicas.least);
  const bool high = number("max", 1, replicas.most);
  if (low && high && replicas.least > replicas.most)
    reader.say(where, fmt::format("min {} is more than max {}", replicas.least, replicas.most));
  if (const json::value* target = find(value, "target")) {
    int64_t requests = 0;
    if (read_count(*target, reader, pointer(where, "target"), 1, 1'000'000, requests))
      replicas.target = requests;
  }
}

// --- the keys of a model

bool is_route(std::string_view text) {
  return text.starts_with('/') && (text.size() == 1 || !text.ends_with('/')) &&
         text.find_first_of("{}") == std::string_view::npos && printable(text) == text;
}

// module.attribute or module:attribute, as Ray takes it
bool is_import_path(std::string_view text) {
  const size_t at = text.find(':') == std::string_view::npos ? text.rfind('.') : text.find(':');
  return at != std::string_view::npos && at > 0 && at + 1 < text.size() &&
         std::ranges::count(text, ':') <= 1 &&
         text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:") ==
             std::string_view::npos;
}

using ReadKey = void (*)(const json::value&, const Reader&, const std::string&, ServedModel&);

struct Key {
  std::string_view key;
  std::string_view engines;   // of whom it is: "r" ray, "s" kserve, "k" kubernetes, "v" vllm
  std::string_view required;  // by whom
  ReadKey read;
};

template <std::string ServedModel::*Member>
void text_into(const json::value& value, const Reader& reader, const std::string& where,
               ServedModel& model) {
  read_text(value, reader, where, model.*Member);
}

constexpr Key kKeys[] = {
    {"name", "rskv", "rskv",
     [](const auto& value, const auto& reader, const auto& where, auto& model) {
       if (!read_text(value, reader, where, model.name)) return;
       if (const auto checked = check_launch_name(model.name); !checked)
         reader.say(where, checked.error().problems.at(0).message);
     }},
    // read before the others, as they depend on it
    {"engine", "rskv", "rskv", [](const auto&, const auto&, const auto&, auto&) {}},
    {"import_path", "r", "r",
     [](const auto& value, const auto& reader, const auto& where, auto& model) {
       if (read_text(value, reader, where, model.import_path) && !is_import_path(model.import_path))
         reader.say(where, fmt::format("\"{}\" is no import path", printable(model.import_path)),
                    "write package.module:application");
     }},
    {"deployment", "r", "", text_into<&ServedModel::deployment>},
    {"route", "r", "",
     [](const auto& value, const auto& reader, const auto& where, auto& model) {
       if (read_text(value, reader, where, model.route) && !is_route(model.route))
         reader.say(where, fmt::format(
                               "\"{}\" is no route: it begins with '/', does not end with one, and "
                               "holds no braces",
                               printable(model.route)));
     }},
    {"image", "skv", "sk", text_into<&ServedModel::image>},
    {"command", "sk", "sk",
     [](const auto& value, const auto& reader, const auto& where, auto& model) {
       read_words(value, reader, where, model.words);
     }},
    {"model", "v", "v",
     [](const auto& value, const auto& reader, const auto& where, auto& model) {
       if (read_text(value, reader, where, model.model) && model.model.starts_with('-'))
         reader.say(where, "begins with '-': that is an option, not a model");
     }},
    {"args", "rskv", "",
     [](const auto& value, const auto& reader, const auto& where, auto& model) {
       if (model.engine != ServingEngine::ray) return read_words(value, reader, where, model.words);
       if (!value.is_object())
         return reader.say(where,
                           fmt::format("must be names and values for the application, not {}",
                                       as_written(value)));
       model.application = value.get_object();
     }},
    {"port", "skv", "k",
     [](const auto& value, const auto& reader, const auto& where, auto& model) {
       read_count(value, reader, where, 1, 65535, model.port);
     }},
    {"env", "rskv", "",
     [](const auto& value, const auto& reader, const auto& where, auto& model) {
       read_environment(value, reader, where, model.environment);
     }},
    {"replicas", "rskv", "",
     [](const auto& value, const auto& reader, const auto& where, auto& model) {
       if (read_count(value, reader, where, 1, kMostReplicas, model.replicas.least))
         model.replicas.most = model.replicas.least;
     }},
    {"autoscaling", "rs", "", read_autoscaling},
    {"resources", "rskv", "", read_resources},
};

char letter_of(ServingEngine engine) {
  constexpr std::string_view kLetters = "rskv";
  return kLetters[static_cast<size_t>(engine)];
}

std::string engines_of(const Key& key) {
  std::vector<std::string> names;
  for (const ServingEngine engine : kEngines)
    if (key.engines.find(letter_of(engine)) != std::string_view::npos)
      names.emplace_back(name(engine));
  return join(names, ", ");
}

bool read_engine(const json::object& object, const Reader& reader, ServedModel& model) {
  const json::value* given = find(object, "engine");
  if (given == nullptr) {
    reader.say("", "engine is missing", fmt::format("one of {}", join(engine_names(), ", ")));
    return false;
  }
  std::string text;
  if (!read_text(*given, reader, "/engine", text)) return false;
  const auto* found = std::ranges::find(kEngines, text, [](ServingEngine e) { return name(e); });
  if (found == std::end(kEngines)) {
    reader.say("/engine",
               fmt::format("\"{}\" is no engine; there are {}", printable(text),
                           join(engine_names(), ", ")),
               did_you_mean(text, engine_names()));
    return false;
  }
  model.engine = *found;
  return true;
}

// What is wrong between keys.
void check_together(const json::object& object, const Reader& reader, const ServedModel& model) {
  if (object.contains("replicas") && object.contains("autoscaling"))
    reader.say("/autoscaling", "stands beside replicas: the number is fixed or it is not",
               "remove one");
  // these follow from the resources; said twice, the later would win without a word
  constexpr std::string_view kOurs[] = {"--tensor-parallel-size",
                                        "-tp",
                                        "--pipeline-parallel-size",
                                        "-pp",
                                        "--port",
                                        "--nnodes",
                                        "--node-rank",
                                        "--master-addr",
                                        "--headless",
                                        "--served-model-name"};
  if (model.engine != ServingEngine::vllm) return;
  for (size_t i = 0; i < model.words.size(); ++i) {
    const std::string_view option =
        std::string_view(model.words[i]).substr(0, model.words[i].find('='));
    if (std::ranges::find(kOurs, option) != std::end(kOurs))
      reader.say(
          fmt::format("/args/{}", i),
          fmt::format("{} follows from the name, the port and the resources", printable(option)),
          "leave it out");
  }
}

void set_defaults(ServedModel& model) {
  if (model.engine == ServingEngine::ray) {
    if (model.route.empty()) model.route = "/" + model.name;
    if (model.deployment.empty()) model.deployment = model.name;
  }
  if (model.engine == ServingEngine::vllm && model.port == 0) model.port = 8000;
  if (model.engine == ServingEngine::kserve && model.port == 0) model.port = 8080;  // KServe's own
}

void read_model(const json::value& value, const Reader& reader, std::vector<ServedModel>& models) {
  if (!value.is_object())
    return reader.say("", fmt::format("a model is expected, not {}", as_written(value)));
  const json::object& object = value.get_object();
  ServedModel model;
  model.place = reader.place("");
  std::vector<std::string> known;
  for (const Key& key : kKeys) known.emplace_back(key.key);
  refuse_unknown(object, reader, "", known, "a model");
  const bool engine_known = read_engine(object, reader, model);
  for (const Key& key : kKeys) {
    const std::string where = pointer("", key.key);
    const json::value* given = find(object, key.key);
    const auto is_of = [&](std::string_view engines) {
      return engine_known && engines.find(letter_of(model.engine)) != std::string_view::npos;
    };
    if (given == nullptr) {
      if (is_of(key.required) && key.key != "engine")
        reader.say(
            "", fmt::format("{} is missing, which engine {} needs", key.key, name(model.engine)));
    } else if (engine_known && !is_of(key.engines)) {
      reader.say(where, fmt::format("engine {} has no {}: it is of {}", name(model.engine), key.key,
                                    engines_of(key)));
    } else if (engine_known || key.engines == "rskv") {
      key.read(*given, reader, where, model);
    }
  }
  check_together(object, reader, model);
  set_defaults(model);
  // what the fields say by themselves, when there is no profile to say the rest
  const bool sound = std::ranges::none_of(reader.problems, [&](const Problem& problem) {
    return std::ranges::any_of(model.resources.places,
                               [&](const auto& place) { return place.second == problem.where; });
  });
  if (sound && !model.resources.profile && !model.resources.given.empty()) {
    if (const auto shape = size_model(model, nullptr); !shape)
      for (const Problem& problem : shape.error().problems) reader.problems.push_back(problem);
  }
  models.push_back(std::move(model));
}

void refuse_twice(const std::vector<ServedModel>& models, std::vector<Problem>& problems) {
  std::map<std::string_view, const ServedModel*> names;
  std::map<std::string_view, const ServedModel*> routes;
  const auto once = [&](auto& seen, std::string_view text, const ServedModel& model,
                        const char* what) {
    const auto [first, is_new] = seen.emplace(text, &model);
    if (is_new || text.empty()) return;
    problems.push_back({model.place,
                        fmt::format("the {} {} stands twice (first at {})", what, printable(text),
                                    first->second->place),
                        ""});
  };
  for (const ServedModel& model : models) {
    once(names, model.name, model, "name");
    if (model.engine == ServingEngine::ray && !model.name.empty())
      once(routes, model.route, model, "route");
  }
}

}  // namespace

std::string_view name(ServingEngine engine) {
  constexpr std::string_view kNames[] = {"ray", "kserve", "kubernetes", "vllm"};
  return kNames[static_cast<size_t>(engine)];
}

Result<std::vector<ServedModel>> read_serving_file(std::string_view text, std::string_view file) {
  EXA_ASSIGN(const auto documents, parse_yaml(text, file, {.with_places = true}));
  std::vector<Problem> problems;
  std::vector<ServedModel> models;
  for (const YamlDocument& document : documents) {
    if (document.value.is_null()) continue;
    const json::value* list = find(document.value, "models");
    if (list == nullptr) {
      read_model(document.value, Reader{document, file, "", problems}, models);
      continue;
    }
    const Reader top{document, file, "", problems};
    refuse_unknown(document.value.get_object(), top, "", {"models"}, "a list of models");
    if (!list->is_array()) {
      top.say("/models", fmt::format("must be a list, not {}", as_written(*list)));
      continue;
    }
    for (size_t i = 0; i < list->get_array().size(); ++i)
      read_model(list->get_array()[i],
                 Reader{document, file, fmt::format("/models/{}", i), problems}, models);
  }
  refuse_twice(models, problems);
  if (models.empty() && problems.empty())
    problems.push_back(
        {fmt::format("{}:1:1", file), "holds no model", "begin with name and engine"});
  if (!problems.empty()) return fail(invalid(file, std::move(problems)));
  return models;
}

}  // namespace exa
