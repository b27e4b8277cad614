import { MigrationMissingError } from "../../../errors/migration-errors.js";
import { StaleSchemaError } from "../../../errors/schema-errors.js";
import type { AnyRow, CompiledModel } from "../../../model/compiled-model.js";
import { synchronousOutputSchema } from "../../../model/fields/output-schema.js";
import { hasTransform } from "../json/json-schema.js";
import type { RowManifest } from "../manifests/manifest.js";
import { isMade, otherFields } from "../manifests/row-manifest.js";
import { type FieldChanges, fieldChanges } from "./affected-indexes.js";
import { compareRows, type RowChange } from "./compare-rows.js";
import { fillDefaults } from "./fill-defaults.js";

/** How a program reads rows of an earlier schema from which no migration leads to its own. */
export interface UnmigratedRows extends FieldChanges {
  /**
   * Returns a row that has the fields of the program's schema. Fills in defaults.
   *
   * @throws {MigrationMissingError} if the row does not fit the schema in a field that has changed.
   */
  readonly up: (row: AnyRow) => AnyRow;
}

/** @returns undefined if all rows of `from` have the fields of `to`. */
export function unmigratedRows(
  model: CompiledModel,
  from: RowManifest,
  to: RowManifest,
): UnmigratedRows | undefined {
  const changes = relevantChanges(from, to);
  if (changes.length === 0) return undefined;
  const names = changes.map(({ field }) => field);
  const fields = names.filter((name) => to.fields[name]?.defaulted && !to.fields[name].optional);
  const up = (row: AnyRow): AnyRow => {
    const filled = fillDefaults(model.name, model.schema, row, fields);
    const unfit = unfitChanges(model, to, changes, filled);
    if (unfit.length > 0) throw new MigrationMissingError(model.name, unfit);
    return filled;
  };
  return { up, ...fieldChanges(from, fields) };
}

/**
 * Returns how a program reads rows of a schema that is newer than its own: as they are stored. A
 * newer migration may have moved the value of a field elsewhere, so no default takes its place.
 *
 * @returns a function that throws `StaleSchemaError` if a row does not fit the program's schema in
 * a field that has changed. Undefined if all rows of `from` fit.
 */
export function newerRows(
  model: CompiledModel,
  from: RowManifest,
  to: RowManifest,
): ((row: AnyRow) => AnyRow) | undefined {
  const changes = relevantChanges(from, to);
  if (changes.length === 0) return undefined;
  const differences = compareRows(to, from);
  return (row) => {
    const unfit = unfitChanges(model, to, changes, row);
    if (unfit.length === 0) return row;
    // Without what the newer program had to do.
    const reasons = unfit.map(({ field, reason }) =>
      (differences.find((one) => one.field === field)?.reason ?? reason).replace(/: .*$/, ""),
    );
    throw new StaleSchemaError(model.name, reasons);
  };
}

/** Returns the changes of fields of `to` that a row may not fit. */
function relevantChanges(from: RowManifest, to: RowManifest): RowChange[] {
  return compareRows(from, to).filter(
    (change) => change.class !== "safe" && Object.hasOwn(to.fields, change.field),
  );
}

/** Returns the changes of the fields in which a row does not fit the schema of a model. */
function unfitChanges(
  model: CompiledModel,
  to: RowManifest,
  changes: readonly RowChange[],
  row: AnyRow,
): RowChange[] {
  const { error } = synchronousOutputSchema(model.schema).safeParse(row);
  const changeOf = (field: unknown): RowChange | undefined => {
    const name = Object.hasOwn(to.fields, String(field)) ? field : otherFields;
    return changes.find((change) => change.field === name);
  };
  const invalid = error?.issues.flatMap(({ path }) => changeOf(path[0]) ?? []) ?? [];
  const unknown = changes.filter((change) => isUnknown(to, change, row));
  return [...new Set([...invalid, ...unknown])];
}

/**
 * True if it is unknown whether a value has the type of its field. This happens if a transform
 * makes the field in the program's schema, and the row's schema has no transform or another one.
 */
function isUnknown(to: RowManifest, { field, class: kind }: RowChange, row: AnyRow): boolean {
  const schema = to.fields[field]?.schema;
  if (kind !== "data" || !hasTransform(schema)) return false;
  return isMade(to, field) || row[field] !== undefined || field === otherFields;
}
