import type { AnyRow, CompiledModel } from "../../../model/compiled-model.js";
import type { RowMigration } from "../define-migration.js";
import type { RowManifest } from "../manifests/manifest.js";
import { type FieldChanges, fieldChanges } from "./affected-indexes.js";
import { compareRows, keepsPrimaryKey, type RowChange } from "./compare-rows.js";
import { fillDefaults } from "./fill-defaults.js";
import { findPath, type PathEdge } from "./upgrade-path.js";

/** A way from rows of one schema to rows of another. */
export interface RowUpgrade extends FieldChanges {
  readonly steps: readonly string[];
  /** Returns the new row. Throws `RowInvalidError`, or what a migration throws. */
  readonly up: (row: AnyRow) => AnyRow;
  /** The migrations that take such rows, but change what both schemas allow. They do not run. */
  readonly leftOut: readonly string[];
  /** True if `up` returns every row as it is. */
  readonly isIdentity: boolean;
  /** True if the way contains the `down` of a migration. */
  readonly goesBack: boolean;
  /** True if programs with the old schema may still write while others have the new one. */
  readonly sideBySide: boolean;
  /** The differences that no migration covers: safe ones, defaults, and removed fields. */
  readonly changes: readonly RowChange[];
}

/**
 * Finds the way from stored rows to rows of a model. The way is empty if their schemas are the
 * same. Otherwise it is the first of these that exists:
 *
 * - `up` functions of migrations that lead from exactly the one schema to exactly the other.
 * - `down` functions of migrations that do so.
 * - Migrations, and before, between and after them differences of schemas that need no migration.
 *
 * The last kind of way has as few such differences as possible, and then as few migrations as
 * possible. It goes back, or makes stored fields invisible, only if nothing else leads to the
 * model. A migration is left out if a later difference takes back what it does, and rows could pass
 * that difference without it.
 *
 * @param to the manifest of the model's rows.
 * @param migrations those of other models are ignored.
 * @returns undefined if there is no way.
 */
export function findUpgrade(
  from: RowManifest,
  model: CompiledModel,
  to: RowManifest,
  migrations: readonly RowMigration[],
): RowUpgrade | undefined {
  if (!keepsPrimaryKey(from, to)) return undefined;
  const ownMigrations = migrations.filter((migration) => migration.model === model.name);
  const path = findPath(from, to, ownMigrations);
  if (path === undefined) return undefined;
  const changes = path.flatMap((edge) => (edge.kind === "free" ? edge.changes : []));
  const runs = path.flatMap((edge) => runOf(edge, model, to) ?? []);
  const migrated = path.flatMap((edge) => (edge.kind === "free" ? [] : [edge.migration]));
  const fields = [
    ...migrated.flatMap(changedFields),
    ...changes.filter((change) => change.class === "backfill").map((change) => change.field),
  ];
  return {
    steps: migrated.map((migration) => migration.name),
    leftOut: path.flatMap((edge) =>
      edge.kind === "free" ? edge.leftOut.map((migration) => migration.name) : [],
    ),
    up: (row) => runs.reduce((made, run) => run(made), { ...row }),
    isIdentity: runs.length === 0,
    goesBack: path.some((edge) => edge.kind === "down"),
    sideBySide: migrated.length === 0 && changes.every((change) => change.sideBySide),
    changes,
    ...fieldChanges(from, fields),
  };
}

function runOf(
  edge: PathEdge,
  model: CompiledModel,
  last: RowManifest,
): ((row: AnyRow) => AnyRow) | undefined {
  if (edge.kind === "up") return edge.migration.up;
  if (edge.kind !== "free") return edge.migration.down;
  const fields = edge.changes.flatMap(({ field, class: kind }) =>
    kind === "backfill" ? field : [],
  );
  if (fields.length === 0) return undefined;
  if (edge.to.hash === last.hash)
    return (row) => fillDefaults(model.name, model.schema, row, fields);
  const { next } = edge;
  return (row) => next?.fillDefaults?.(row, fields) ?? row;
}

function changedFields({ changes, from, to }: RowMigration): readonly string[] {
  return changes ?? compareRows(from, to).map(({ field }) => field);
}
