import type { Kv } from "@keywright/core";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { ownFields } from "../../model/rows/own-fields.js";
import type { RowManifest } from "../schema/manifests/manifest.js";
import { affectedIndexes, type FieldChanges } from "../schema/upgrade/affected-indexes.js";
import { compareRows, hasSameKey, migratedReason } from "../schema/upgrade/compare-rows.js";
import { findUpgrade, type RowUpgrade } from "../schema/upgrade/row-upgrade.js";
import { newerRows, unmigratedRows } from "../schema/upgrade/unmigrated-rows.js";
import {
  type CatalogEntry,
  type RowTransform,
  transformMarkKey,
  transformsOf,
} from "./catalog-entry.js";
import type { KnownFields } from "./learned-definitions.js";
import { type ProgramRows, readRowManifest } from "./row-manifests.js";

export type UpgradeRow = (row: AnyRow) => AnyRow;

export interface RowSchemas {
  /**
   * `"open"` if the program may write. `"stale"` if the database has a newer schema, or none that
   * is known. `"not-migrated"` if the database has an older schema and has to be migrated first.
   */
  readonly fence: "open" | "stale" | "not-migrated";
  readonly differences: readonly string[];
  /** Converts rows of the database's schema. Undefined if they need no conversion. */
  readonly now: UpgradeRow | undefined;
  /**
   * The rows that changes of all rows have not reached yet, oldest first. Empty if none is running.
   */
  readonly before: readonly EarlierRows[];
  /** The indexes whose entries match the rows as stored, but not as the program reads them. */
  readonly outdated: readonly CompiledIndex[];
  /** The fields that may have another value in the rows as the program reads them. */
  readonly changedFields: ReadonlySet<string>;
  /** The unique indexes in which rows may take keys of rows that a change has not reached yet. */
  readonly exchanging: readonly CompiledIndex[];
  /**
   * False if the program's schema differs safely from that of the database, which does not know it
   * yet. The first write of the program then makes it known.
   */
  readonly isKnown: boolean;
  readonly relations: readonly string[];
  /** The fields of rows, as the program and as the database has them. */
  readonly fields: KnownFields;
  /**
   * The primary key by which the database stores the rows. Undefined if the program has the same.
   */
  readonly otherKey: readonly string[] | undefined;
}

/** The rows that a change of all rows has not reached yet. They were written before its mark. */
export interface EarlierRows {
  readonly mark: string;
  readonly upgrade: UpgradeRow | undefined;
  /** What the upgrade changes. Undefined if rows are read as they are stored. */
  readonly changes: FieldChanges | undefined;
}

/**
 * Compares a program's rows with those of a catalog entry. Reads nothing if they are the same.
 *
 * @param isEarlier true if the entry was replaced since, so that the program is not older.
 */
export async function readRowSchemas(
  kv: Kv,
  model: CompiledModel,
  programRows: ProgramRows,
  { schema, transform }: CatalogEntry,
  isEarlier = false,
): Promise<RowSchemas> {
  const { manifest } = programRows;
  const same: RowSchemas = {
    fence: "open",
    differences: [],
    now: undefined,
    before: [],
    outdated: [],
    changedFields: new Set(),
    exchanging: [],
    isKnown: true,
    relations: programRows.relations,
    fields: { ofProgram: manifest.fields, ofDatabase: manifest.fields },
    otherKey: undefined,
  };
  if (schema === undefined) return same;
  const { hash } = programRows.manifest;
  const isSame = schema.hash === hash;
  if (isSame && transform === undefined) return same;
  // If the database once had the program's schema, the program is older than the database, even if
  // a migration leads to its schema.
  const wasStored = !isEarlier && (await readRowManifest(kv, model, hash)) !== undefined;
  const isWriter = isSame || schema.accepts.includes(hash) || !wasStored;
  const before: EarlierRows[] = [];
  const transforms = transformsOf(transform);
  for (const [i, each] of transforms.entries()) {
    const earlier = await readEarlierRows(kv, model, programRows, each, isWriter);
    const later = transforms.slice(i + 1).flatMap(({ removes = [] }) => removes);
    if (earlier !== undefined) before.push(withoutValues(model, earlier, each, later));
  }
  const earlierChanges = before.flatMap((each) => each.changes ?? []);
  const affected = affectedIndexes(model, earlierChanges);
  const exchanging = affected.filter((index) => index.unique);
  const unfinished = transform?.scanned ? [] : earlierChanges;
  if (isSame) {
    const outdated = affectedIndexes(model, unfinished);
    return { ...same, before, outdated, changedFields: fieldsIn(unfinished), exchanging };
  }
  const stored = await readRowManifest(kv, model, schema.hash);
  const upgrade =
    stored && findUpgrade(stored, model, programRows.manifest, programRows.migrations);
  const fence = fenceOf(programRows, schema.accepts, stored, upgrade, wasStored);
  const conversion = conversionOf(model, programRows, fence.fence, stored, upgrade);
  const changes = conversion.changes === undefined ? [] : [conversion.changes];
  return {
    ...same,
    ...fence,
    fields: { ofProgram: manifest.fields, ofDatabase: stored?.fields ?? {} },
    now: conversion.upgrade,
    before,
    outdated: affectedIndexes(model, [...changes, ...unfinished]),
    changedFields: fieldsIn([...changes, ...unfinished]),
    exchanging,
    isKnown: schema.accepts.includes(hash) || !upgrade?.isIdentity || !upgrade.sideBySide,
    otherKey: stored && hasSameKey(stored, programRows.manifest) ? undefined : stored?.primaryKey,
  };
}

/** Returns how a program reads rows of another schema than its own, and what this changes. */
function conversionOf(
  model: CompiledModel,
  { manifest }: ProgramRows,
  fence: RowSchemas["fence"],
  stored: RowManifest | undefined,
  upgrade: RowUpgrade | undefined,
): Pick<EarlierRows, "upgrade" | "changes"> {
  const isOlder = fence === "stale";
  if (upgrade !== undefined && !(isOlder && fillsIn(upgrade))) {
    const up = upgradeFunction(upgrade);
    return { upgrade: up, changes: up && upgrade };
  }
  if (stored === undefined || fence === "open") return { upgrade: undefined, changes: undefined };
  if (isOlder) return { upgrade: newerRows(model, stored, manifest), changes: undefined };
  const unmigrated = unmigratedRows(model, stored, manifest);
  return { upgrade: unmigrated?.up, changes: unmigrated };
}

/** True if an upgrade puts defaults where rows lack a value. */
function fillsIn({ changes }: RowUpgrade): boolean {
  return changes.some((change) => change.class === "backfill");
}

function fieldsIn(changes: readonly FieldChanges[]): ReadonlySet<string> {
  return new Set(changes.flatMap(({ fields }) => fields));
}

async function readEarlierRows(
  kv: Kv,
  model: CompiledModel,
  programRows: ProgramRows,
  { id, from }: RowTransform,
  isWriter: boolean,
): Promise<EarlierRows | undefined> {
  const { versionstamp: mark } = await kv.get(transformMarkKey(model, id));
  // The change has ended since the catalog was read.
  if (mark === null) return undefined;
  if (from === programRows.manifest.hash) return { mark, upgrade: undefined, changes: undefined };
  const stored = await readRowManifest(kv, model, from);
  const upgrade =
    stored && findUpgrade(stored, model, programRows.manifest, programRows.migrations);
  // A program that is older than the change reads rows as they are stored. One that may write has
  // to know their schema, so such a row makes it fail.
  if (!isWriter) return { mark, ...conversionOf(model, programRows, "stale", stored, upgrade) };
  if (upgrade !== undefined) return { mark, upgrade: upgradeFunction(upgrade), changes: upgrade };
  return { mark, upgrade: () => refuseRow(model.name), changes: undefined };
}

/**
 * Removes the values that a change of rows or a later one removes, so that no row is read or
 * written with them. A change that only removes values does so before the upgrade, because the
 * program may have a new field of the same name.
 */
function withoutValues(
  model: CompiledModel,
  rows: EarlierRows,
  { removes = [] }: RowTransform,
  later: readonly string[],
): EarlierRows {
  if (removes.length === 0 && later.length === 0) return rows;
  const { upgrade } = rows;
  return {
    ...rows,
    upgrade: (row) => {
      const remaining = withoutFields(row, removes);
      const upgraded = upgrade === undefined ? remaining : upgrade(remaining);
      return ownFields(model.schema, withoutFields(upgraded, later));
    },
  };
}

function withoutFields(row: AnyRow, fields: readonly string[]): AnyRow {
  if (!fields.some((field) => Object.hasOwn(row, field))) return row;
  return Object.fromEntries(Object.entries(row).filter(([field]) => !fields.includes(field)));
}

function refuseRow(model: string): never {
  const reason =
    "the program was opened without the migration from the schema that the row was written under";
  throw new InvalidArgumentError(model, "migrations", reason);
}

function upgradeFunction(upgrade: RowUpgrade | undefined): UpgradeRow | undefined {
  return upgrade === undefined || upgrade.isIdentity ? undefined : upgrade.up;
}

function fenceOf(
  programRows: ProgramRows,
  accepts: readonly string[],
  stored: RowManifest | undefined,
  upgrade: RowUpgrade | undefined,
  wasStored: boolean,
): Pick<RowSchemas, "fence" | "differences"> {
  if (accepts.includes(programRows.manifest.hash)) return { fence: "open", differences: [] };
  if (stored === undefined)
    return { fence: "stale", differences: ["the schema of its rows is not stored"] };
  if (upgrade?.isIdentity && upgrade.sideBySide) return { fence: "open", differences: [] };
  const isNewer = !wasStored && !upgrade?.goesBack;
  if (!isNewer) {
    const changes = compareRows(programRows.manifest, stored);
    return { fence: "stale", differences: changes.map((change) => change.reason) };
  }
  const changes = compareRows(stored, programRows.manifest);
  const hasPath = upgrade !== undefined;
  const differences = changes.map((change) => (hasPath ? migratedReason(change) : change.reason));
  return { fence: "not-migrated", differences };
}
