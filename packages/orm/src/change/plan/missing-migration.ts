import type { RowMigration } from "../../state/schema/define-migration.js";
import type { RowManifest } from "../../state/schema/manifests/manifest.js";
import {
  compareRows,
  keepsPrimaryKey,
  type RowChange,
} from "../../state/schema/upgrade/compare-rows.js";
import { findPath } from "../../state/schema/upgrade/upgrade-path.js";

/**
 * Returns what has to be done before a field can change, as text for people: a migration that has
 * to be written. Undefined if nothing has.
 */
export function missingMigration(
  kind: RowChange["class"],
  isKey: boolean,
  model: string,
  from: RowManifest,
  to: RowManifest,
  migrations: readonly RowMigration[],
): string | undefined {
  if (isKey)
    return 'Add a field for the new values by a migration, and then make it the primary key, as the guide to migrations shows under "Changing a primary key".';
  if (kind !== "data" || !keepsPrimaryKey(from, to)) return undefined;
  const backwards = findBackwardMigrations(from, to, migrations);
  if (backwards.length > 0) return backwardsText(backwards);
  const mismatch = migrations.length === 0 ? "" : `${mismatchText(from, to, migrations)}\n`;
  return `${mismatch}Write a migration:\n${migrationCode(model, from, to)}`;
}

/** Finds the migrations that would lead from the stored rows to the model if they had a `down`. */
function findBackwardMigrations(
  stored: RowManifest,
  to: RowManifest,
  migrations: readonly RowMigration[],
): readonly RowMigration[] {
  const irreversible = migrations.filter(({ down }) => down === undefined);
  const assumedReversible: RowMigration[] = irreversible.map((migration) => ({
    ...migration,
    down: migration.up,
  }));
  const reversible = migrations.filter(({ down }) => down !== undefined);
  const path = findPath(stored, to, [...reversible, ...assumedReversible]) ?? [];
  if (path.some(({ kind }) => kind !== "down")) return [];
  return path.flatMap((edge) => {
    return edge.kind !== "free" && assumedReversible.includes(edge.migration) ? edge.migration : [];
  });
}

function backwardsText(migrations: readonly RowMigration[]): string {
  const names = listText(migrations.map(({ name }) => name));
  return migrations.length === 1
    ? `The migration ${names} leads from the model's schema to the stored rows, and has no down. Add one.`
    : `The migrations ${names} lead from the model's schema to the stored rows, and have no down. Add one to each.`;
}

/** Describes why none of the migrations leads from the stored rows to the model. */
function mismatchText(
  stored: RowManifest,
  to: RowManifest,
  migrations: readonly RowMigration[],
): string {
  const names = listText(migrations.map(({ name }) => name));
  const isOne = migrations.length === 1;
  const subject = isOne ? `The migration ${names} does not lead` : `No migration (${names}) leads`;
  const statement = `${subject} from the stored rows to the model`;
  const fieldsOf = (between: readonly [RowManifest, RowManifest]) => [
    ...new Set(compareRows(...between).map(({ field }) => field)),
  ];
  const starts = migrations.map((migration) => ({
    name: migration.name,
    fields: fieldsOf([stored, migration.from]),
  }));
  const [nearest] = starts.sort((a, b) => a.fields.length - b.fields.length);
  if (nearest === undefined || nearest.fields.length === 0) {
    const remaining = migrations.map((migration) => fieldsOf([migration.to, to]));
    const [nearestFields = []] = remaining.sort((a, b) => a.length - b.length);
    const part = isOne ? "its to" : "the nearest to";
    return `${statement}: ${part} differs from the model in ${listText(nearestFields)}.`;
  }
  const part = isOne ? "its from" : `the from of ${JSON.stringify(nearest.name)}`;
  return `${statement}: ${part} differs from the stored schema in ${listText(nearest.fields)}.`;
}

/** Returns the outline of a migration. */
function migrationCode(model: string, from: RowManifest, to: RowManifest): string {
  const changes = compareRows(from, to);
  const isSafe = ({ class: kind }: RowChange) => kind === "safe" || kind === "backfill";
  const removed = changes.filter((change) => !Object.hasOwn(to.fields, change.field));
  const rewritten = changes.filter(
    (change) => !isSafe(change) && Object.hasOwn(to.fields, change.field),
  );
  const parts = [...removed.map((change) => nameText(change.field)), "...row"];
  const row = removed.length === 0 ? "row" : `{ ${parts.join(", ")} }`;
  const values = ["...row", ...rewritten.map((change) => `${nameText(change.field)}: …`)];
  return [
    "defineMigration({",
    `  model: …, // the model ${JSON.stringify(model)}`,
    "  from: z.object({ … }), // its old schema",
    "  to: z.object({ … }), // its new schema",
    `  up: (${row}) => ({ ${values.join(", ")} }),`,
    "})",
  ].join("\n");
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

export function differences(from: RowManifest, to: RowManifest): number {
  return compareRows(from, to).length;
}

export function fieldsText(from: RowManifest, to: RowManifest): string {
  const fields = new Set(compareRows(from, to).map(({ field }) => JSON.stringify(field)));
  return [...fields].join(", ");
}

export function listText(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(", ");
}

function nameText(field: string): string {
  return /^[\w$]+$/.test(field) ? field : JSON.stringify(field);
}
