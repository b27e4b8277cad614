import { type AnyDatabase, tableContexts } from "../../state/context/any-database.js";
import type { RowMigration } from "../../state/schema/define-migration.js";
import type { RowManifest } from "../../state/schema/manifests/manifest.js";
import { compareRows } from "../../state/schema/upgrade/compare-rows.js";
import { differences, fieldsText } from "./missing-migration.js";
import { readFacts } from "./read-facts.js";

/** A migration of a program, and whether its rows can go back by its `down`. */
export interface UndoableMigration {
  readonly name: string;
  readonly model: string;
  /** A clause for people that says why not, after "because". Absent if they can. */
  readonly obstacle?: string;
}

/**
 * Returns the migrations of a program in their order, each with what prevents it from being undone:
 * it has no `down`, or nothing leads from the stored rows back to those that it made.
 */
export async function undoableMigrations(database: AnyDatabase): Promise<UndoableMigration[]> {
  const obstacles = new Map<RowMigration, string | undefined>();
  for (const context of tableContexts(database).values()) {
    const { storedRow, migrations, model } = await readFacts(context);
    const own = migrations.filter((migration) => migration.model === model.name);
    for (const [migration, obstacle] of obstaclesOf(storedRow, own)) {
      obstacles.set(migration, obstacle);
    }
  }
  return [...obstacles].map(([{ name, model }, obstacle]) => {
    return { name, model, ...(obstacle !== undefined && { obstacle }) };
  });
}

/** Returns why each migration cannot be undone, after "because". Undefined if it can. */
function obstaclesOf(
  stored: RowManifest | undefined,
  migrations: readonly RowMigration[],
): Map<RowMigration, string | undefined> {
  const reached = stored === undefined ? [] : [stored];
  const undone = new Set<RowMigration>();
  for (let at = reached[0], i = 0; at !== undefined; at = reached[++i]) {
    for (const migration of migrations) {
      if (migration.down === undefined || undone.has(migration)) continue;
      if (!isSafe(at, migration.to)) continue;
      undone.add(migration);
      reached.push(migration.from);
    }
  }
  return new Map(
    migrations.map((migration) => {
      if (undone.has(migration)) return [migration, undefined];
      if (migration.down === undefined) return [migration, "it has no down"];
      const fields = fieldsText(nearestOf(reached, migration.to), migration.to);
      return [migration, `no down leads back to the rows that it made, which differ in ${fields}`];
    }),
  );
}

function isSafe(from: RowManifest, to: RowManifest): boolean {
  return compareRows(from, to).every((change) => change.class === "safe");
}

function nearestOf(manifests: readonly RowManifest[], to: RowManifest): RowManifest {
  const [nearest] = [...manifests].sort((a, b) => differences(a, to) - differences(b, to));
  return nearest ?? to;
}
