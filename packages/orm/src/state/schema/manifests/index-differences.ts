import { hashOf } from "./hash.js";
import { codeOf, isSameCode } from "./index-code.js";
import type { IndexManifest, TextTraits } from "./manifest.js";

/** Describes in clauses how the definition of an index differs from the stored one. */
export function indexDifferences(stored: IndexManifest, now: IndexManifest): readonly string[] {
  const differences: string[] = [];
  const wasAndIs = (aspect: string, before: unknown, after: unknown) =>
    differences.push(`its ${aspect} was ${JSON.stringify(before)} and is ${JSON.stringify(after)}`);
  const [keyBefore, keyNow] = [keyText(stored), keyText(now)];
  if (hashOf(keyBefore) !== hashOf(keyNow)) wasAndIs("key", keyBefore, keyNow);
  if (stored.unique !== now.unique)
    differences.push(now.unique ? "it is unique now" : "it is no longer unique");
  const {
    normalized: normalizedBefore = stored.normalized,
    normalizers: _normalizersBefore,
    where: whereBefore,
    descending: _before,
    text: textBefore,
    value: valueBefore,
    ...traitsBefore
  } = stored.traits ?? {};
  const {
    normalized: normalizedNow = now.normalized,
    normalizers: _normalizersNow,
    where: whereNow,
    descending: _now,
    text: textNow,
    value: valueNow,
    ...traitsNow
  } = now.traits ?? {};
  if (hashOf(normalizedBefore) !== hashOf(normalizedNow))
    differences.push(normalizedText(normalizedNow));
  if (whereBefore && whereNow && hashOf(whereBefore) !== hashOf(whereNow))
    wasAndIs("where", whereBefore, whereNow);
  if (stored.prefix !== now.prefix) wasAndIs("prefix", stored.prefix, now.prefix);
  if (!whereBefore !== !whereNow || hashOf(traitsBefore) !== hashOf(traitsNow))
    differences.push("its rows or their entries are chosen by other rules");
  if (textBefore && textNow) differences.push(...textDifferences(textBefore, textNow));
  else if (textBefore) differences.push("it is no longer a full-text index");
  else if (textNow) differences.push("it is a full-text index now");
  const [held, holds] = [contentText(valueBefore), contentText(valueNow)];
  if (held !== holds) differences.push(`its entries held ${held} and hold ${holds}`);
  if (!isSameCode(stored, now)) differences.push(...codeDifferences(stored, now));
  return differences;
}

function textDifferences(before: TextTraits, now: TextTraits): string[] {
  const differences: string[] = [];
  const wasAndIs = (aspect: string, a: unknown = null, b: unknown = null) => {
    if (hashOf(a) === hashOf(b)) return;
    differences.push(`its ${aspect} was ${JSON.stringify(a)} and is ${JSON.stringify(b)}`);
  };
  wasAndIs("text", before.fields, now.fields);
  wasAndIs("language", before.language, now.language);
  wasAndIs("foldMarks", before.foldsMarks, now.foldsMarks);
  if (hashOf(before.stopWords ?? []) !== hashOf(now.stopWords ?? []))
    differences.push("it has other stop words");
  if (before.version !== now.version)
    differences.push("this version of Keywright cuts texts into words by other rules");
  return differences;
}

/** Describes the functions that differ, with both texts if both are known. */
function codeDifferences(stored: IndexManifest, now: IndexManifest): string[] {
  const versionOf = ({ functions }: IndexManifest) =>
    functions?.startsWith("version ") ? functions.slice("version ".length) : undefined;
  const [versionBefore, versionNow] = [versionOf(stored), versionOf(now)];
  if (versionBefore !== undefined || versionNow !== undefined) {
    const text = (version: string | undefined) => JSON.stringify(version ?? "none");
    return [`its version was ${text(versionBefore)} and is ${text(versionNow)}`];
  }
  const [before, after] = [codeTexts(stored), codeTexts(now)];
  const differing = [...new Set([...before.keys(), ...after.keys()])].filter(
    (name) => before.get(name) !== after.get(name),
  );
  if (stored.functions !== undefined && stored.code === undefined)
    return [
      `the code of its functions differs: ${listOfTexts(after)} (an earlier release stored only a hash of the other code)`,
    ];
  // A function that only one of them has is described by the other differences.
  return differing
    .filter((name) => before.has(name) && after.has(name))
    .map((name) => `its ${name} was ${before.get(name)} and is ${after.get(name)}`);
}

function listOfTexts(texts: ReadonlyMap<string, string>): string {
  return [...texts].map(([name, text]) => `${name} is ${text}`).join(", ");
}

/** Returns the functions of an index by what they do in it. */
function codeTexts(manifest: IndexManifest): ReadonlyMap<string, string> {
  const { where, key, normalize = {} } = codeOf(manifest);
  const names = manifest.traits?.normalizers ?? {};
  return new Map([
    ...(where === undefined ? [] : [["where", where] as const]),
    ...(key === undefined ? [] : [["key", key] as const]),
    ...Object.entries(normalize).map(([field, text]) => {
      const declared = Object.hasOwn(names, field) ? JSON.stringify(names[field]) : text;
      return [`normalize of ${field}`, declared] as const;
    }),
  ]);
}

function keyText({ fields, traits }: IndexManifest): string[] {
  return fields.map((field) => {
    return traits?.descending?.includes(field) ? `${field} descending` : field;
  });
}

/** @param value the fields of the rows that entries hold, `"copy"` for all of them. */
function contentText(value: NonNullable<IndexManifest["traits"]>["value"]): string {
  if (value === undefined) return "pointers to rows";
  return value === "copy" ? "copies of rows" : `the fields ${JSON.stringify(value)}`;
}

/** @param fields a boolean for an index over one field. */
function normalizedText(fields: boolean | readonly string[]): string {
  if (typeof fields !== "boolean") return `it normalizes ${JSON.stringify(fields)} now`;
  return fields ? "it normalizes its values now" : "it no longer normalizes its values";
}
