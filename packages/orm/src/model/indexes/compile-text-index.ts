import { knownNames } from "../../errors/nearest-name.js";
import { ModelDefinitionError } from "../../errors/schema-errors.js";
import { analyzerVersion } from "../../text/analyzer.js";
import { cutWords } from "../../text/cut-words.js";
import { foldIn } from "../../text/fold.js";
import { isLanguage, type Language, languages } from "../../text/languages.js";
import type { TextField } from "../../text/text-definition.js";
import { assertBooleans, assertFields, assertOptions } from "../assert-definition.js";
import type { CompiledIndex } from "../compiled-model.js";
import { canBeInKey, holdsTexts } from "../fields/key-kinds.js";
import type { Model } from "../model.js";
import { compileCondition, matchesCondition } from "./compile-condition.js";
import { defaultIndexPrefix } from "./index-prefix.js";
import { hiddenIndex, plainPart } from "./plain-index.js";
import type { AnyTextIndexOptions } from "./text-options.js";

const knownOptions: readonly (keyof AnyTextIndexOptions)[] = [
  "text",
  "key",
  "language",
  "weights",
  "foldMarks",
  "stopWords",
  "where",
  "prefix",
];

type Fail = (property: string, reason: string) => never;

/** How many fields one index can have. Postings name the fields of a word by bits of 32. */
const maxFields = 30;

/** True for the definition of a full-text index, whether it is valid or not. */
export function isTextIndex(definition: unknown): definition is AnyTextIndexOptions {
  return typeof definition === "object" && definition !== null && "text" in definition;
}

/**
 * Checks and compiles the definition of a full-text index. Queries never choose it, so it is hidden
 * from them. `search` names it.
 */
export function compileTextIndex(
  model: Model,
  name: string,
  definition: AnyTextIndexOptions,
): CompiledIndex {
  const at = `indexes.${name}`;
  const fail: Fail = (property, reason) => {
    throw new ModelDefinitionError(model.name, `${at}.${property}`, reason);
  };
  assertOptions(model.name, at, definition, knownOptions);
  assertBooleans(model.name, at, definition, ["foldMarks"]);
  const { language, foldMarks = true, where } = definition;
  const { prefix = defaultIndexPrefix(model.prefix ?? model.name, name) } = definition;
  if (typeof prefix !== "string" || prefix === "")
    fail("prefix", "it must be a string that is not empty");
  if (language !== undefined && !isLanguage(language)) {
    const known = knownNames(String(language), languages, "languages with a stemmer");
    fail("language", `there is no stemmer for ${JSON.stringify(language)}; ${known}`);
  }
  const fields = compileFields(model, at, definition, fail);
  const key = compileKey(model, at, definition.key, fail);
  const parts = key.map(plainPart);
  const condition =
    where === undefined
      ? undefined
      : compileCondition(model.schema.shape, where, parts, (reason) => fail("where", reason));
  const inRow = [...key, ...fields.map(({ field }) => field), ...Object.keys(condition ?? {})];
  return hiddenIndex(name, prefix, key, {
    where: condition && ((row) => matchesCondition(condition, row)),
    condition,
    keyFields: new Set(inRow),
    text: {
      fields,
      key,
      analyzer: {
        version: analyzerVersion,
        language,
        foldsMarks: foldMarks,
        stopWords: compileStopWords(definition.stopWords, language, fail),
      },
    },
  });
}

function compileFields(
  model: Model,
  at: string,
  { text, weights = {} }: AnyTextIndexOptions,
  fail: Fail,
): readonly TextField[] {
  const names = typeof text === "string" ? [text] : text;
  assertFields(model, `${at}.text`, names);
  if (names.length === 0) fail("text", "it must name at least one field");
  if (names.length > maxFields) fail("text", `it can name at most ${maxFields} fields`);
  for (const field of names) {
    if (holdsTexts(model.schema.shape[field]!)) continue;
    const reason = `the field ${JSON.stringify(field)} is no string and no array of strings, so it has no words`;
    fail("text", reason);
  }
  if (typeof weights !== "object" || weights === null || Array.isArray(weights))
    fail("weights", "it must be an object of numbers by field");
  for (const [field, weight] of Object.entries(weights)) {
    if (!names.includes(field)) {
      const known = knownNames(field, names, "fields of text");
      fail("weights", `text does not name the field ${JSON.stringify(field)}; ${known}`);
    }
    const isNumber = typeof weight === "number" && weight >= 0.01 && weight <= 1000;
    if (weight !== undefined && !isNumber)
      fail(`weights.${field}`, "it must be a number from 0.01 to 1000");
  }
  return names.map((field) => ({ field, weight: weights[field] ?? 1 }));
}

function compileKey(
  model: Model,
  at: string,
  key: AnyTextIndexOptions["key"],
  fail: Fail,
): readonly string[] {
  if (key === undefined) return [];
  const names = typeof key === "string" ? [key] : key;
  assertFields(model, `${at}.key`, names);
  for (const field of names) {
    if (!canBeInKey(model.schema.shape[field]!))
      fail("key", `a key cannot hold the values of the field ${JSON.stringify(field)}`);
  }
  return [...names];
}

function compileStopWords(
  words: unknown,
  language: Language | undefined,
  fail: Fail,
): readonly string[] {
  if (words === undefined) return [];
  if (!Array.isArray(words)) return fail("stopWords", "it must be a list of words");
  const folded = words.map((word: unknown) => {
    if (typeof word !== "string") return fail("stopWords", "each of them must be a string");
    const [first, ...others] = [...cutWords(word)];
    if (first?.start !== 0 || first.end !== word.length || others.length > 0)
      fail("stopWords", `${JSON.stringify(word)} is not one word`);
    return foldIn(language, word);
  });
  return [...new Set(folded)].sort();
}
