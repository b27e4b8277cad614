import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import type { CatalogEntry } from "../catalog/catalog-entry.js";
import type { RowMigration } from "../schema/define-migration.js";
import type { RowManifest } from "../schema/manifests/manifest.js";
import { rowManifest } from "../schema/manifests/row-manifest.js";
import { affectedIndexes } from "../schema/upgrade/affected-indexes.js";
import { findUpgrade, type RowUpgrade } from "../schema/upgrade/row-upgrade.js";

/** What is known of a model in the database and in the program before it is planned. */
export interface KnownFacts {
  readonly model: CompiledModel;
  readonly entry: CatalogEntry;
  /** The manifest that `entry.schema` names; undefined if there is none. */
  readonly storedRow: RowManifest | undefined;
  /** True if the database has had the program's schema, and has a newer one. */
  readonly isOlder?: boolean;
  /** True if the values of removed fields are to be removed from the rows. */
  readonly removesValues?: boolean;
  /** The program's `belongsTo` relations, as `relationTexts` returns them. */
  readonly relations: readonly string[];
  /**
   * The manifests of the rows that running transforms have not reached yet, oldest first. Undefined
   * for one that the database does not have.
   */
  readonly earlierRows: readonly (RowManifest | undefined)[];
  readonly migrations: readonly RowMigration[];
  /** What prevents a change of the primary key and is not in the catalog entry. */
  readonly keyObstacle?: string | undefined;
}

/** The facts from which the plan of a model is made. */
export interface ModelFacts extends KnownFacts {
  /** The manifest of the program's rows. */
  readonly manifest: RowManifest;
  /** The way from the stored rows to the model. Undefined if there is none. */
  readonly upgrade: RowUpgrade | undefined;
  /** True if the database has a newer schema, but accepts writes of programs with this one. */
  readonly isAccepted: boolean;
}

export function modelFacts(known: KnownFacts): ModelFacts {
  const { model, entry, storedRow, migrations } = known;
  const manifest = rowManifest(model.schema, model.primaryKey);
  return {
    ...known,
    manifest,
    upgrade: storedRow && findUpgrade(storedRow, model, manifest, migrations),
    isAccepted: entry.schema?.accepts.includes(manifest.hash) === true,
  };
}

/**
 * Returns those of some indexes whose entries the planned upgrade may change. Includes the indexes
 * that a running transform would affect in another way on its way to the model.
 */
export function indexesAffectedByUpgrade(
  { model, manifest, earlierRows, migrations, upgrade, isAccepted }: ModelFacts,
  indexes: readonly CompiledIndex[] = model.indexes,
): readonly CompiledIndex[] {
  if (upgrade === undefined || isAccepted) return [];
  const upgrades = upgrade.isIdentity
    ? []
    : earlierRows.map((earlier) => earlier && findUpgrade(earlier, model, manifest, migrations));
  const changes = [upgrade, ...upgrades].filter((each) => each !== undefined);
  return affectedIndexes({ ...model, indexes }, changes);
}
