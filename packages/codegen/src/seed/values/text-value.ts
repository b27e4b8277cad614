import { formatText } from "./format-text.js";
import { patternText } from "./pattern-text.js";
import { checksOf, type Definition, type Place } from "./place.js";
import { textByName } from "./texts-by-name.js";

/** The checks of a text that are no format of the whole text. */
const partFormats: ReadonlySet<string> = new Set([
  "regex",
  "lowercase",
  "uppercase",
  "includes",
  "starts_with",
  "ends_with",
]);

/** From this attempt on, a text without a format is made of random characters. */
const randomFrom = 3;

/**
 * Returns a text that should pass the checks of its schema. The caller validates it and tries
 * again, because a text that follows one check may break another one.
 */
export function textValue(def: Definition, place: Place): string {
  const checks = checksOf(def);
  const [min, max] = lengthOf(checks);
  const text = cased(checks, baseText(checks, place, [min, max]));
  const ends = [part(checks, "prefix"), part(checks, "suffix")] as const;
  const included = checks.flatMap(({ includes }) => (includes === undefined ? [] : [includes]));
  if (ends[0] === "" && ends[1] === "" && included.length === 0) return text;
  const fixed = [ends[0], ...included, ends[1]];
  const room = max - fixed.join("").length;
  // A text with a format may already have these parts.
  if (place.attempt % 2 === 0 && fixed.every((each) => text.includes(each))) return text;
  const filling = text.slice(0, Math.max(0, Math.min(text.length, room)));
  return `${ends[0]}${included.join("")}${filling}${ends[1]}`;
}

function baseText(
  checks: readonly Definition[],
  place: Place,
  [min, max]: readonly [number, number],
): string {
  const patterns = checks.filter(({ format, pattern }) => format === "regex" && pattern);
  const [pattern] = patterns;
  if (pattern?.pattern !== undefined) return patternText(place, pattern.pattern, min);
  const format = checks.find((each) => each.format !== undefined && !partFormats.has(each.format));
  if (format !== undefined) {
    const text = formatText(place, format, max);
    // The pattern also describes what a maker of plausible texts does not know, such as a hash.
    if (text !== undefined && place.attempt < 20) return text;
    if (format.pattern !== undefined) return patternText(place, format.pattern, min);
  }
  return freeText(place, min, max);
}

function freeText(place: Place, min: number, max: number): string {
  const { faker } = place.fakes;
  if (place.attempt < randomFrom) return withLength(textByName(place), place, min, max);
  // Rows need different values, or a refinement has refused the plausible ones.
  const plain = withLength(textByName(place), place, min, max);
  const added = faker.string.alphanumeric({ length: { min: 1, max: 6 }, casing: "lower" });
  if (place.attempt % 2 === 1 && plain.length + added.length + 1 <= max) return `${plain} ${added}`;
  const longest = Math.min(max, Math.max(min, 24));
  return faker.string.alphanumeric({ length: { min: Math.min(min, longest), max: longest } });
}

/** Cuts a text, or adds letters, so that it has one of these lengths. */
function withLength(text: string, { fakes }: Place, min: number, max: number): string {
  const cut = text.length > max ? text.slice(0, max).trimEnd() : text;
  const missing = Math.max(min, Math.min(1, max)) - cut.length;
  return missing > 0 ? cut + fakes.faker.string.alpha({ length: missing, casing: "lower" }) : cut;
}

function lengthOf(checks: readonly Definition[]): readonly [number, number] {
  let [min, max] = [0, Number.POSITIVE_INFINITY];
  for (const { check, minimum = 0, maximum = max, length = 0 } of checks) {
    if (check === "min_length") min = Math.max(min, minimum);
    else if (check === "max_length") max = Math.min(max, maximum);
    else if (check === "length_equals") [min, max] = [length, length];
  }
  return [min, max];
}

function cased(checks: readonly Definition[], text: string): string {
  if (checks.some(({ format }) => format === "lowercase")) return text.toLowerCase();
  return checks.some(({ format }) => format === "uppercase") ? text.toUpperCase() : text;
}

/** Returns the longest prefix or suffix, which the shorter ones have to be a part of. */
function part(checks: readonly Definition[], name: "prefix" | "suffix"): string {
  const parts = checks.flatMap((check) => check[name] ?? []);
  return parts.reduce((longest, each) => (each.length > longest.length ? each : longest), "");
}
