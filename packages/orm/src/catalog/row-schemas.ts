import type { Kv } from "@keywright/core";
import type { AnyRow, CompiledIndex, CompiledModel } from "../model/compiled-model.js";
import { compareRows, migratedReason } from "../schema/compare-rows.js";
import type { RowMigration } from "../schema/define-migration.js";
import type { RowManifest } from "../schema/manifest.js";
import { affectedIndexes, findUpgrade, type RowUpgrade } from "../schema/row-upgrade.js";
import { type CatalogEntry, rowManifestKey, transformMarkKey } from "./catalog-entry.js";

/** Makes a row of an earlier schema one of the program's. */
export type UpgradeRow = (row: AnyRow) => AnyRow;

/** How a program's rows stand to those of the database. */
export interface RowSchemas {
  /** Whether the program may write: it has the database's schema, an older one or a newer one. */
  readonly fence: "open" | "stale" | "not-migrated";
  /** What differs, where it may not. */
  readonly differences: readonly string[];
  /** For rows of the schema that the database has now; undefined where they are the program's. */
  readonly now: UpgradeRow | undefined;
  /** For rows that a change which is under way has not reached. */
  readonly before: EarlierRows | undefined;
  /** The indexes whose entries are of rows as they are stored, where the program makes other rows of them. */
  readonly outdated: readonly CompiledIndex[];
  /** The database knows the program's schema: one that differs safely is made known by the program's first write. */
  readonly isKnown: boolean;
  /** The program's `belongsTo` relations, as `relationTexts` gives them. */
  readonly relations: readonly string[];
}

/** The rows that a change of all rows has not reached: those written before its mark. */
export interface EarlierRows {
  /** The versionstamp of the mark. */
  readonly mark: string;
  readonly upgrade: UpgradeRow | undefined;
}

/** What a program knows of its own rows. */
export interface OwnRows {
  readonly manifest: RowManifest;
  readonly migrations: readonly RowMigration[];
  /** Its `belongsTo` relations, as `relationTexts` gives them. */
  readonly relations: readonly string[];
}

/** Compares a program's rows with those that a catalog entry says there are. Reads nothing where they are the same. */
export async function readRowSchemas(
  kv: Kv,
  model: CompiledModel,
  own: OwnRows,
  { schema, transform }: CatalogEntry,
): Promise<RowSchemas> {
  const same: RowSchemas = {
    fence: "open",
    differences: [],
    now: undefined,
    before: undefined,
    outdated: [],
    isKnown: true,
    relations: own.relations,
  };
  if (schema === undefined) return same;
  const { hash } = own.manifest;
  const isOwn = schema.hash === hash;
  if (isOwn && transform === undefined) return same;
  // A schema that the database has had is an older one, whatever leads from there to here.
  const wasStored = (await readRowManifest(kv, model, hash)) !== undefined;
  const isWriter = isOwn || schema.accepts.includes(hash) || !wasStored;
  const before = transform && (await readEarlierRows(kv, model, own, transform, isWriter));
  if (isOwn) return { ...same, before };
  const stored = await readRowManifest(kv, model, schema.hash);
  const way = stored && findUpgrade(stored, model, own.manifest, own.migrations);
  const now = upgradeOf(way);
  return {
    ...same,
    ...fenceOf(own, schema.accepts, stored, way, wasStored),
    now,
    before,
    outdated: now === undefined || way === undefined ? [] : affectedIndexes(model, way),
    isKnown: schema.accepts.includes(hash) || !way?.isIdentity || !way.sideBySide,
  };
}

async function readEarlierRows(
  kv: Kv,
  model: CompiledModel,
  own: OwnRows,
  { id, from }: NonNullable<CatalogEntry["transform"]>,
  isWriter: boolean,
): Promise<EarlierRows | undefined> {
  const { versionstamp: mark } = await kv.get(transformMarkKey(model, id));
  // It has ended since the catalog was read.
  if (mark === null) return undefined;
  if (from === own.manifest.hash) return { mark, upgrade: undefined };
  const stored = await readRowManifest(kv, model, from);
  const way = stored && findUpgrade(stored, model, own.manifest, own.migrations);
  if (way !== undefined) return { mark, upgrade: upgradeOf(way) };
  // A program that is older than the change sees rows as they are; one that is to write them has to know how they were.
  return { mark, upgrade: isWriter ? withoutWay : undefined };
}

function withoutWay(): never {
  throw new TypeError(
    "This program was opened without the migration from the schema that the row was written under.",
  );
}

function upgradeOf(way: RowUpgrade | undefined): UpgradeRow | undefined {
  return way === undefined || way.isIdentity ? undefined : way.up;
}

function fenceOf(
  own: OwnRows,
  accepts: readonly string[],
  stored: RowManifest | undefined,
  way: RowUpgrade | undefined,
  wasStored: boolean,
): Pick<RowSchemas, "fence" | "differences"> {
  if (accepts.includes(own.manifest.hash)) return { fence: "open", differences: [] };
  if (stored === undefined)
    return { fence: "stale", differences: ["the database does not tell what its rows are"] };
  if (way?.isIdentity && way.sideBySide) return { fence: "open", differences: [] };
  const isNewer = !wasStored && !way?.goesBack;
  if (!isNewer) {
    const changes = compareRows(own.manifest, stored);
    return { fence: "stale", differences: changes.map((change) => change.reason) };
  }
  const changes = compareRows(stored, own.manifest);
  const hasWay = way !== undefined;
  const differences = changes.map((one) => (hasWay ? migratedReason(one) : one.reason));
  return { fence: "not-migrated", differences };
}

async function readRowManifest(
  kv: Kv,
  model: CompiledModel,
  hash: string,
): Promise<RowManifest | undefined> {
  const { value } = await kv.get<RowManifest>(rowManifestKey(model, hash));
  return value ?? undefined;
}
