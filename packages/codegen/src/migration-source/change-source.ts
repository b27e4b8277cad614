import { isDeepStrictEqual } from "node:util";
import { compareRows, type RenamedField, type RowManifest } from "@keywright/orm/codegen";
import { camelCase } from "../types/identifiers.js";
import { canBeVariable, nameSource } from "./literal-source.js";

/** Declared nowhere, so that the compiler reports each value that the author must write. */
export const placeholder = "TODO";

/** The name under which a manifest describes the fields without a name of their own. */
export const otherFields = "*";

export interface ChangeSource {
  readonly text: string;
  readonly values: readonly string[];
}

/** Writes a function that moves the renamed field and marks the values to write. */
export function changeSource(
  from: RowManifest,
  to: RowManifest,
  rename: RenamedField | undefined,
): ChangeSource {
  const values = neededValues(from, to).filter((field) => field !== rename?.to);
  const removed = fieldsWithout(from, to);
  const replaced = values.filter((field) => Object.hasOwn(from.fields, field));
  const locals = localNames([...removed, ...replaced]);
  const local = (field: string) => locals.get(field) ?? field;
  const parts = [...locals].map(([field, name]) => propertySource(field, name));
  const set = [
    ...(rename === undefined ? [] : [propertySource(rename.to, local(rename.from))]),
    ...values.map((field) => {
      const hasOldValue = replaced.includes(field) && isOnlyRequired(from, to, field);
      return propertySource(field, hasOldValue ? `${local(field)} ?? ${placeholder}` : placeholder);
    }),
  ];
  const row = parts.length === 0 ? "row" : `{ ${[...parts, "...row"].join(", ")} }`;
  // Each value to write gets its own line. The formatter keeps an object on several lines if it
  // begins with a line break.
  const start = values.length === 0 ? "({ " : "({\n";
  const result = set.length === 0 ? "row" : `${start}${["...row", ...set].join(", ")} })`;
  return { text: `(${row}) => ${result}`, values };
}

function fieldsWithout({ fields }: RowManifest, other: RowManifest): string[] {
  return Object.keys(fields).filter(
    (field) => field !== otherFields && !Object.hasOwn(other.fields, field),
  );
}

/** Returns the fields whose values no schema determines: new fields, and fields of another type. */
function neededValues(from: RowManifest, to: RowManifest): string[] {
  return compareRows(from, to).flatMap(({ field, kind, class: step }) => {
    const now = to.fields[field];
    if (step !== "data" || now === undefined || field === otherFields) return [];
    return kind === "added" && (now.optional || now.defaulted) ? [] : [field];
  });
}

function isOnlyRequired(from: RowManifest, to: RowManifest, field: string): boolean {
  const [before, now] = [from.fields[field], to.fields[field]];
  return before?.optional === true && isDeepStrictEqual(before.schema, now?.schema);
}

/** Names the variables like the fields if possible. */
function localNames(fields: readonly string[]): Map<string, string> {
  const isFree = (name: string) => canBeVariable(name) && name !== "row" && name !== placeholder;
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
  const free = [words, `${words}Value`].find(isFree);
  if (free !== undefined) return free;
  for (let count = 1; ; count++) {
    if (isFree(`value${count}`)) return `value${count}`;
  }
}

function propertySource(field: string, value: string): string {
  const isShort = field === value && value !== placeholder;
  return isShort ? field : `${nameSource(field)}: ${value}`;
}
