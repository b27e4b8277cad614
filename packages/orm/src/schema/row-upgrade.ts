import type { AnyRow, CompiledIndex, CompiledModel } from "../model/compiled-model.js";
import { compareRows, keepsPrimaryKey, type RowChange } from "./compare-rows.js";
import type { RowMigration } from "./define-migration.js";
import { fillDefaults } from "./fill-defaults.js";
import type { RowManifest } from "./manifest.js";
import { findPath, type PathEdge } from "./upgrade-path.js";

/** How rows of one schema become rows of another. */
export interface RowUpgrade {
  /** The names of the migrations on the way, in order. */
  readonly steps: readonly string[];
  /** Makes a new row of one that is stored; throws what a migration throws, or `RowInvalidError`. */
  readonly up: (row: AnyRow) => AnyRow;
  /** Those that take such rows too, and change what both schemas allow: they are not on the way. */
  readonly leftOut: readonly string[];
  /** `up` changes nothing. */
  readonly isIdentity: boolean;
  /** On the way is the `down` of a migration. */
  readonly goesBack: boolean;
  /** Programs with the old schema may go on writing beside those with the new one. */
  readonly sideBySide: boolean;
  /** The differences that no migration on the way brings about: safe ones, defaults, and fields that are gone. */
  readonly changes: readonly RowChange[];
  /** The fields that may have another value then. */
  readonly fields: readonly string[];
}

/**
 * The way from rows as they are stored to rows of a model: none at all where they are the same; migrations from exactly the
 * one to exactly the other, up or else down; or migrations before, between and behind which schemas differ by no more than
 * what is safe or filled in. As few such differences as can be, then as few migrations; what goes back, and what leaves fields
 * unseen, only where nothing else leads there. A migration is left out where what it does is taken back by a difference behind
 * it, and rows could have passed that as they were.
 *
 * @param to the manifest of the model's rows.
 * @param migrations those of other models don't count.
 * @returns undefined where there is no way.
 */
export function findUpgrade(
  from: RowManifest,
  model: CompiledModel,
  to: RowManifest,
  migrations: readonly RowMigration[],
): RowUpgrade | undefined {
  if (!keepsPrimaryKey(from, to)) return undefined;
  const own = migrations.filter((migration) => migration.model === model.name);
  const path = findPath(from, to, own);
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
    fields: [...new Set(fields)],
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
  return (row) => next?.complete?.(row, fields) ?? row;
}

function changedFields({ changes, from, to }: RowMigration): readonly string[] {
  return changes ?? compareRows(from, to).map(({ field }) => field);
}

/**
 * The indexes of a model that a change of its rows leaves behind until it has come to each of them: an index of a field that
 * may have another value then, and one that a function of the row or a copy of it is in. They cannot be read meanwhile.
 */
export function affectedIndexes(model: CompiledModel, upgrade: RowUpgrade): CompiledIndex[] {
  if (upgrade.fields.length === 0) return [];
  const changed = new Set(upgrade.fields);
  return model.indexes.filter(
    (index) =>
      index.where !== undefined ||
      index.store === "copy" ||
      index.parts.some((part) => part.compute !== undefined || changed.has(part.field)) ||
      index.include.some((field) => changed.has(field)),
  );
}
