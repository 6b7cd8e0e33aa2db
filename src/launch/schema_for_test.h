// Documents held against a JSON schema of testdata/launch.
#pragma once

#include <string>

#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "base/json.h"
#include "launch/specs_for_test.h"

namespace exa {

// What is wrong with a document; empty: it is as the schema says.
inline std::string against_schema(const std::string& name, const json::value& document) {
  const auto root = parse_json(contents_of(EXA_TESTDATA "/launch/" + name), name);
  if (!root) return root.error().message;
  valijson::Schema schema;
  valijson::SchemaParser parser;
  const valijson::adapters::BoostJsonAdapter schema_adapter(*root);
  parser.populateSchema(schema_adapter, schema);
  valijson::ValidationResults results;
  valijson::Validator validator(valijson::Validator::kStrongTypes);
  const valijson::adapters::BoostJsonAdapter target(document);
  if (validator.validate(schema, target, &results)) return {};
  std::string text;
  valijson::ValidationResults::Error error;
  while (results.popError(error)) {
    for (const std::string& step : error.context) text += step;
    text += ": " + error.description + "\n";
  }
  return text.empty() ? "it does not fit" : text;
}

}  // namespace exa
