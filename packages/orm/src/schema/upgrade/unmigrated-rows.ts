import { MigrationMissingError } from "../../errors/migration-errors.js";
import type { AnyRow, CompiledModel } from "../../model/compiled-model.js";
import { synchronousOutputSchema } from "../../model/fields/output-schema.js";
import type { RowManifest } from "../manifests/manifest.js";
import { otherFields } from "../manifests/row-manifest.js";
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
  const changes = compareRows(from, to).filter(
    (change) => change.class !== "safe" && Object.hasOwn(to.fields, change.field),
  );
  if (changes.length === 0) return undefined;
  const names = changes.map(({ field }) => field);
  const fields = names.filter((name) => to.fields[name]?.defaulted && !to.fields[name].optional);
  const schema = synchronousOutputSchema(model.schema);
  const changeOf = (field: unknown): RowChange | undefined => {
    const name = Object.hasOwn(to.fields, String(field)) ? field : otherFields;
    return changes.find((change) => change.field === name);
  };
  const up = (row: AnyRow): AnyRow => {
    const filled = fillDefaults(model.name, model.schema, row, fields);
    const { error } = schema.safeParse(filled);
    const unfit = error?.issues.flatMap(({ path }) => changeOf(path[0]) ?? []) ?? [];
    if (unfit.length > 0) throw new MigrationMissingError(model.name, [...new Set(unfit)]);
    return filled;
  };
  return { up, ...fieldChanges(from, fields) };
}
