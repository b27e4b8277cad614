import { systemPrefix } from "../../model/compiled-model.js";
import {
  count,
  flag,
  is,
  listOf,
  object,
  optional,
  plainObject,
  recordOf,
  text,
} from "../../model/shape.js";
import type { CatalogEntry } from "./catalog-entry.js";
import type { SystemShape } from "./system-value.js";

const states = [
  "absent",
  "write-only",
  "verifying",
  "unique-pending",
  "readable",
  "disabled",
  "dropping",
];
const state = is((value) => states.includes(value as string));

const traits = object({
  descending: optional(listOf(text)),
  descendingOrder: optional(text),
  normalized: optional(listOf(text)),
  normalizers: optional(recordOf(listOf(text))),
  each: optional(text),
  where: optional(plainObject),
  partial: optional(flag),
  unmarked: optional(text),
  computed: optional(flag),
  text: optional(
    object({
      fields: listOf(text),
      version: text,
      language: optional(text),
      foldsMarks: flag,
      stopWords: optional(listOf(text)),
    }),
  ),
  value: optional(is((value) => value === "copy" || listOf(text)(value) === undefined)),
});
/**
 * The first part of keys of rows or entries. If it were that of records, a removal would be too.
 */
const place = is((value) => typeof value === "string" && value !== systemPrefix);

const code = object({
  where: optional(text),
  key: optional(text),
  normalize: optional(recordOf(text)),
});

const placedIndex = {
  state,
  prefix: place,
  fields: listOf(text),
  unique: flag,
  normalized: flag,
  traits: optional(traits),
  functions: optional(text),
  code: optional(code),
  sameFunctions: optional(listOf(object({ functions: optional(text), code: optional(code) }))),
  place: optional(place),
};
const storedIndex = object({
  ...placedIndex,
  next: optional(object(placedIndex)),
  leaving: optional(object(placedIndex)),
  leftPlaces: optional(listOf(place)),
  earlier: optional(listOf(text)),
});
const transform = { id: text, from: text, removes: optional(listOf(text)) };

const knownCatalog = object({
  name: optional(text),
  place: optional(place),
  indexes: recordOf(storedIndex),
  counters: optional(recordOf(state)),
  counterBuilds: optional(recordOf(count)),
  schema: optional(object({ hash: text, accepts: listOf(text) })),
  relations: optional(listOf(text)),
  unfilled: optional(listOf(text)),
  transform: optional(object({ ...transform, earlier: optional(listOf(object(transform))) })),
  otherLayout: optional(object({ primaryKey: listOf(text), place })),
});

/** A later format may have other fields. The reader refuses it with an error of its own. */
export const catalogShape: SystemShape<CatalogEntry> = {
  problemOf: (value) => {
    const problem = object({ format: count })(value);
    if (problem !== undefined) return problem;
    const { format } = value as { readonly format: number };
    return [0, 1, 2, 3].includes(format) ? knownCatalog(value) : undefined;
  },
  remedy: "restore it from a backup",
};
