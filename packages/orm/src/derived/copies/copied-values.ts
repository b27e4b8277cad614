import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import type { CopiedFields } from "../../model/relations/relation-definition.js";
import { isSameData } from "../../model/rows/is-same-data.js";
import { fillDefaults } from "../../state/schema/upgrade/fill-defaults.js";

/** Returns the fields of a copying row that differ from those of the row that it copies. */
export function changedCopies(copy: CopiedFields, source: AnyRow, row: AnyRow): string[] {
  return Object.keys(copy).filter((field) => !isSameData(row[field], source[copy[field]!]));
}

/** Returns a row with the fields that it copies from another one. */
export function withCopies(copy: CopiedFields, source: AnyRow, row: AnyRow): AnyRow {
  let copied = row;
  for (const field of changedCopies(copy, source, row))
    copied = withField(copied, field, source[copy[field]!]);
  return copied;
}

/** Returns a row with another value of a field. A field without a value is left out. */
function withField(row: AnyRow, field: string, value: unknown): AnyRow {
  const changed: Record<string, unknown> = { ...row };
  if (value === undefined) delete changed[field];
  else changed[field] = value;
  return changed;
}

/** Returns the copied fields of a row that refers to no row: the defaults of the schema. */
export function copiesOfNoRow({ name, schema }: CompiledModel, copy: CopiedFields): AnyRow {
  return fillDefaults(name, schema, {}, Object.keys(copy));
}

/** `{ authorName: "name" }` → `{ authorName: "authorName" }` */
export function ownNames(copy: CopiedFields): CopiedFields {
  return Object.fromEntries(Object.keys(copy).map((field) => [field, field]));
}
