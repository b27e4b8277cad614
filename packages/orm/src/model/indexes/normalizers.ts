import type { KvKeyPart } from "@keywright/core";

/**
 * A normalizer that the stored definition of an index contains by its name, so that no build can
 * change it:
 *
 * - `"lowercase"` and `"uppercase"`: `toLowerCase()` and `toUpperCase()`, the mappings of Unicode
 *   for all languages
 * - `"trim"`: `trim()`, which removes white space and line ends at both ends
 * - `"nfc"`: `normalize("NFC")`, one form for characters that Unicode can write in several ways
 */
export type Normalizer = "lowercase" | "uppercase" | "trim" | "nfc";

const functions: Readonly<Record<Normalizer, (value: string) => string>> = {
  lowercase: (value) => value.toLowerCase(),
  uppercase: (value) => value.toUpperCase(),
  trim: (value) => value.trim(),
  nfc: (value) => value.normalize("NFC"),
};

export const normalizerNames = Object.keys(functions) as readonly Normalizer[];

function isNormalizer(value: unknown): value is Normalizer {
  return typeof value === "string" && Object.hasOwn(functions, value);
}

export function areNormalizers(names: readonly unknown[]): names is readonly Normalizer[] {
  return names.every(isNormalizer);
}

/** Indexes with the same normalizers have the same function, so that it can be compared. */
const composed = new Map<string, (value: unknown) => KvKeyPart>();

/**
 * Returns a function that applies normalizers in their order. It throws for other values than
 * strings.
 */
export function composeNormalizers(names: readonly Normalizer[]): (value: unknown) => KvKeyPart {
  const key = names.join();
  const known = composed.get(key);
  if (known !== undefined) return known;
  const normalize = (value: unknown): KvKeyPart => {
    if (typeof value !== "string")
      throw new TypeError(
        `the normalizer ${names.join(", ")} needs a string, not a ${typeof value}`,
      );
    return names.reduce((text, name) => functions[name](text), value);
  };
  composed.set(key, normalize);
  return normalize;
}
