import { isDeepStrictEqual } from "node:util";
import { compareRows, type RowManifest } from "@keywright/orm";
import { camelCase } from "../types/identifiers.js";
import { canBeVariable, nameSource } from "./literal-source.js";

/** What stands where a value has to be written: it is declared nowhere, so that the compiler points there. */
export const toWrite = "TODO";

/** The name among a manifest's fields of all that have none. */
const otherFields = "*";

/** A field that has another name now, and nothing else. */
export interface Rename {
  readonly from: string;
  readonly to: string;
}

/** The function that makes rows of another schema, as it is written. */
export interface ChangeSource {
  readonly text: string;
  /** The fields whose values have to be written. */
  readonly values: readonly string[];
}

/** Where exactly one field went and one came that is the same otherwise, that is taken for a rename. */
export function renameBetween(from: RowManifest, to: RowManifest): Rename | undefined {
  const [went, ...othersWent] = fieldsWithout(from, to);
  const [came, ...othersCame] = fieldsWithout(to, from);
  if (went === undefined || came === undefined) return undefined;
  if (othersWent.length > 0 || othersCame.length > 0) return undefined;
  return isDeepStrictEqual(from.fields[went], to.fields[came])
    ? { from: went, to: came }
    : undefined;
}

/** Writes the function between two schemas: it moves what is renamed, and says which values have to be written. */
export function changeSource(
  from: RowManifest,
  to: RowManifest,
  rename: Rename | undefined,
): ChangeSource {
  const values = neededValues(from, to).filter((field) => field !== rename?.to);
  const gone = fieldsWithout(from, to);
  const replaced = values.filter((field) => Object.hasOwn(from.fields, field));
  const locals = localNames([...gone, ...replaced]);
  const local = (field: string) => locals.get(field) ?? field;
  const parts = [...locals].map(([field, name]) => propertySource(field, name));
  const set = [
    ...(rename === undefined ? [] : [propertySource(rename.to, local(rename.from))]),
    ...values.map((field) => {
      const isThere = replaced.includes(field) && isOnlyRequired(from, to, field);
      return propertySource(field, isThere ? `${local(field)} ?? ${toWrite}` : toWrite);
    }),
  ];
  const row = parts.length === 0 ? "row" : `{ ${[...parts, "...row"].join(", ")} }`;
  // Values to write have a line each: an object that begins with a line break stays so.
  const start = values.length === 0 ? "({ " : "({\n";
  const made = set.length === 0 ? "row" : `${start}${["...row", ...set].join(", ")} })`;
  return { text: `(${row}) => ${made}`, values };
}

function fieldsWithout({ fields }: RowManifest, other: RowManifest): string[] {
  return Object.keys(fields).filter(
    (field) => field !== otherFields && !Object.hasOwn(other.fields, field),
  );
}

/** The fields whose values no schema says: those that are new, and those of another type. */
function neededValues(from: RowManifest, to: RowManifest): string[] {
  return compareRows(from, to).flatMap(({ field, kind, class: step }) => {
    const now = to.fields[field];
    if (step !== "data" || now === undefined || field === otherFields) return [];
    return kind === "added" && (now.optional || now.defaulted) ? [] : [field];
  });
}

/** Whether a field differs by nothing but that rows may no longer be without it. */
function isOnlyRequired(from: RowManifest, to: RowManifest, field: string): boolean {
  const [before, now] = [from.fields[field], to.fields[field]];
  return before?.optional === true && isDeepStrictEqual(before.schema, now?.schema);
}

/** Variables for the values of fields: of the same names, where these can be some. */
function localNames(fields: readonly string[]): Map<string, string> {
  const isFree = (name: string) => canBeVariable(name) && name !== "row" && name !== toWrite;
  const taken = new Set(fields.filter(isFree));
  const names = new Map<string, string>();
  for (const field of fields) {
    const name = taken.has(field)
      ? field
      : otherName(field, (one) => isFree(one) && !taken.has(one));
    taken.add(name);
    names.set(field, name);
  }
  return names;
}

/** `"first name"` → `firstName`, `class` → `classValue`. */
function otherName(field: string, isFree: (name: string) => boolean): string {
  const words = camelCase(field);
  const known = [words, `${words}Value`].find(isFree);
  if (known !== undefined) return known;
  for (let count = 1; ; count++) {
    if (isFree(`value${count}`)) return `value${count}`;
  }
}

function propertySource(field: string, value: string): string {
  const isShort = field === value && value !== toWrite;
  return isShort ? field : `${nameSource(field)}: ${value}`;
}
