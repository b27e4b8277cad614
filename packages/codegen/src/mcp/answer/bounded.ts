/** A value that was shortened to fit into an answer. */
export interface Cut {
  /** Where it is: `rows[0].text`. Empty for the whole value. */
  readonly at: string;
  /** How much of it is left: characters of a text, elements of a list, or names of an object. */
  readonly kept: number;
  /** How much there was. */
  readonly of: number;
}

export interface Bounded {
  readonly value: unknown;
  /** The first 20 values that were shortened. Empty if nothing was. */
  readonly cuts: readonly Cut[];
}

const maxCuts = 20;
/** The least space for a part, in characters. Smaller parts show nothing. */
const minPart = 24;

/**
 * Returns a value of JSON whose text has at most `limit` UTF-16 code units. Long texts and lists
 * lose their ends. Small parts of an object stay whole, whatever the size of the others.
 *
 * @param value what `jsonOf` returns.
 * @param limit at least 100.
 */
export function bounded(value: unknown, limit: number): Bounded {
  const cuts: Cut[] = [];
  const shortened = fit(value, limit, "", (cut) => {
    if (cuts.length < maxCuts) cuts.push(cut);
  });
  return { value: shortened, cuts };
}

type Note = (cut: Cut) => void;

/** The length of a value as JSON. */
export function lengthOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0;
}

function fit(value: unknown, limit: number, at: string, note: Note): unknown {
  if (lengthOf(value) <= limit) return value;
  if (typeof value === "string") return fitText(value, limit, at, note);
  if (Array.isArray(value)) return fitList(value, limit, at, note);
  if (typeof value === "object" && value !== null) return fitObject(value, limit, at, note);
  return value;
}

function fitText(text: string, limit: number, at: string, note: Note): string {
  let kept = Math.max(0, Math.min(text.length, limit) - 3);
  // A control character takes six characters in JSON.
  while (kept > 0 && lengthOf(text.slice(0, kept)) > limit - 1) kept = Math.floor(kept * 0.8);
  // Half of a pair of surrogates is no character.
  if (/[\uD800-\uDBFF]$/.test(text.slice(0, kept))) kept--;
  note({ at, kept, of: text.length });
  return `${text.slice(0, kept)}…`;
}

function fitList(list: readonly unknown[], limit: number, at: string, note: Note): unknown[] {
  const kept: unknown[] = [];
  let left = limit - 2;
  for (const [i, element] of list.entries()) {
    const isWhole = lengthOf(element) + 1 <= left;
    // Only the first element is shortened. Of the others, those that do not fit are left out.
    if (!isWhole && i > 0) break;
    const part = isWhole ? element : fit(element, left - 1, `${at}[${i}]`, note);
    const length = lengthOf(part) + 1;
    if (length > left) break;
    kept.push(part);
    left -= length;
  }
  if (kept.length < list.length) note({ at, kept: kept.length, of: list.length });
  return kept;
}

function fitObject(object: object, limit: number, at: string, note: Note): object {
  const all = Object.entries(object);
  let left = limit - 2;
  const some = all.slice(0, Math.max(1, Math.floor(left / minPart)));
  const parts = some.map(([name, value]) => {
    const nameLength = lengthOf(name) + 2;
    return { name, value, nameLength, length: nameLength + lengthOf(value) };
  });
  // From the smallest one, so that what small parts do not need is left for the large ones.
  const fitted = new Map<string, unknown>();
  const bySize = [...parts].sort((a, b) => a.length - b.length);
  for (const [i, { name, value, nameLength }] of bySize.entries()) {
    const space = Math.floor(left / (bySize.length - i)) - nameLength;
    const part = fit(value, space, at === "" ? name : `${at}.${name}`, note);
    const length = lengthOf(part);
    if (length > space) continue;
    fitted.set(name, part);
    left -= nameLength + length;
  }
  const names = some.map(([name]) => name).filter((name) => fitted.has(name));
  if (names.length < all.length) note({ at, kept: names.length, of: all.length });
  return Object.fromEntries(names.map((name) => [name, fitted.get(name)]));
}
