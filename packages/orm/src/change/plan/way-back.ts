import type { RowMigration } from "../../state/schema/define-migration.js";
import type { RowManifest } from "../../state/schema/manifests/manifest.js";
import { compareRows } from "../../state/schema/upgrade/compare-rows.js";

/** Returns why each migration cannot be undone, after "because". Undefined if it can. */
export function obstaclesOf(
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

/**
 * Describes the missing link between the stored rows and the migrations whose `down` leads on to an
 * earlier schema.
 *
 * @returns undefined if no `down` leads to that schema, or if they begin at the stored rows.
 */
export function missingLink(
  stored: RowManifest,
  to: RowManifest,
  migrations: readonly RowMigration[],
): string | undefined {
  const ways: RowMigration[] = [];
  const reached = new Set([to.hash]);
  for (let found = true; found; ) {
    const next = migrations.filter(
      ({ down, from, to: made }) =>
        down !== undefined && reached.has(from.hash) && !reached.has(made.hash),
    );
    for (const migration of next) reached.add(migration.to.hash);
    ways.push(...next);
    found = next.length > 0;
  }
  const [nearest] = ways.sort((a, b) => differences(stored, a.to) - differences(stored, b.to));
  if (nearest === undefined || reached.has(stored.hash)) return undefined;
  const name = JSON.stringify(nearest.name);
  return `The down of the migration ${name} leads on to the model's schema, but nothing leads from the stored rows to those that it takes: they differ in ${fieldsText(stored, nearest.to)}. It is not used`;
}

function isSafe(from: RowManifest, to: RowManifest): boolean {
  return compareRows(from, to).every((change) => change.class === "safe");
}

function differences(from: RowManifest, to: RowManifest): number {
  return compareRows(from, to).length;
}

function nearestOf(manifests: readonly RowManifest[], to: RowManifest): RowManifest {
  const [nearest] = [...manifests].sort((a, b) => differences(a, to) - differences(b, to));
  return nearest ?? to;
}

function fieldsText(from: RowManifest, to: RowManifest): string {
  const fields = new Set(compareRows(from, to).map(({ field }) => JSON.stringify(field)));
  return [...fields].join(", ");
}
