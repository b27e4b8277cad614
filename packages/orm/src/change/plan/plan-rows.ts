import type { CompiledIndex } from "../../model/compiled-model.js";
import type { RowMigration } from "../../state/schema/define-migration.js";
import type { RowManifest } from "../../state/schema/manifests/manifest.js";
import { rowManifest } from "../../state/schema/manifests/row-manifest.js";
import {
  compareRows,
  keepsPrimaryKey,
  type RowChange,
} from "../../state/schema/upgrade/compare-rows.js";
import { renamedField, renamedFieldText } from "../../state/schema/upgrade/renamed-field.js";
import { findUpgrade, type RowUpgrade } from "../../state/schema/upgrade/row-upgrade.js";
import { findPath } from "../../state/schema/upgrade/upgrade-path.js";
import { leftText } from "./left-fields.js";
import type { MigrationStep, ModelFacts, PlannedStep } from "./migration-plan.js";
import { missingLink } from "./way-back.js";

/**
 * @param upgrade undefined if the stored rows cannot become rows of the model, or need not.
 * @param moved the indexes whose entries change together with the rows.
 */
export function planRows(
  facts: ModelFacts,
  upgrade: RowUpgrade | undefined,
  moved: readonly CompiledIndex[],
): PlannedStep[] {
  const { model, entry, storedRow } = facts;
  const { schema, transform } = entry;
  if (schema === undefined) return [];
  const to = rowManifest(model.schema, model.primaryKey);
  const isSame = schema.hash === to.hash;
  if (isSame && transform === undefined) return [];
  // The database has a newer schema, but accepts writes of programs with this one.
  if (!isSame && schema.accepts.includes(to.hash)) return [];
  const incomplete = { kind: "transform-rows", class: "data", sideBySide: false } as const;
  const canReach = facts.earlierRows.every(
    (earlier) => earlier && findUpgrade(earlier, model, to, facts.migrations),
  );
  if (!canReach) {
    const reason = `A change of all rows of ${model.name} is not complete, and no migration leads from the rows that it has not reached to the model.`;
    const blocked =
      "Open the database with the migrations that the change began with, or complete it with the program that began it.";
    return [{ ...incomplete, reason, blocked }];
  }
  if (isSame) {
    const removed = transform?.removes;
    const reason =
      removed === undefined
        ? `The change of all rows of ${model.name} is not complete.`
        : `The removal of the values of ${leftText(removed)} from the rows of ${model.name} is not complete.`;
    return [{ ...incomplete, reason }];
  }
  if (storedRow === undefined) {
    const reason = `The database has no record of the schema of ${model.name}.`;
    const blocked = "Migrate it with the program that migrated it last.";
    return [{ ...incomplete, reason, blocked }];
  }
  const allChanges = compareRows(storedRow, to);
  const remaining = upgrade?.changes ?? allChanges;
  const steps = remaining.map((change) => fieldStep(change, facts, storedRow, to, upgrade));
  if (upgrade === undefined) return steps;
  if (!upgrade.isIdentity) steps.push(transformStep(upgrade, allChanges, moved));
  else if (transform !== undefined) {
    const reason = `An interrupted change of all rows of ${model.name} is completed, to the schema of the model`;
    steps.push({ ...incomplete, reason });
  }
  return withLeftOut(facts.isOlder ? goingBack(steps, facts, storedRow, to) : steps, upgrade);
}

/** Marks the steps of a program that is older than the database, and says what is missing. */
function goingBack(
  steps: PlannedStep[],
  { model, migrations }: ModelFacts,
  storedRow: RowManifest,
  to: RowManifest,
): PlannedStep[] {
  const breaking = asBreaking(steps, model.name);
  const last = breaking.at(-1);
  const own = migrations.filter((migration) => migration.model === model.name);
  const missing = missingLink(storedRow, to, own);
  if (last === undefined || missing === undefined) return breaking;
  return [...breaking.slice(0, -1), { ...last, reason: `${last.reason}. ${missing}` }];
}

/** Makes one step breaking, because the program is older than the schema that would be replaced. */
function asBreaking(steps: PlannedStep[], model: string): PlannedStep[] {
  const last = steps.at(-1);
  if (last === undefined || steps.some((step) => step.class === "breaking")) return steps;
  const reason = `${last.reason}. The database has a newer schema of ${model}, and this goes back to an earlier one`;
  return [...steps.slice(0, -1), { ...last, class: "breaking", reason }];
}

/**
 * Adds the migrations that were left out to the reason of the last step. Such a migration takes the
 * stored rows, but what it changes is also allowed by the model.
 */
function withLeftOut(steps: PlannedStep[], { leftOut }: RowUpgrade): PlannedStep[] {
  const last = steps.at(-1);
  if (last === undefined || leftOut.length === 0) return steps;
  const [subject, object] =
    leftOut.length === 1
      ? [`The migration ${listText(leftOut)} is`, "it changes"]
      : [`The migrations ${listText(leftOut)} are`, "they change"];
  const reason = `${last.reason}. ${subject} left out, because the model also allows what ${object}.`;
  return [...steps.slice(0, -1), { ...last, reason }];
}

const fieldKinds = {
  added: "add-field",
  changed: "change-field",
  removed: "remove-field",
} as const satisfies Record<RowChange["kind"], MigrationStep["kind"]>;

function fieldStep(
  change: RowChange,
  { model, migrations, isOlder = false }: ModelFacts,
  from: RowManifest,
  to: RowManifest,
  upgrade: RowUpgrade | undefined,
): PlannedStep {
  const { field, kind: difference, class: kind, sideBySide } = change;
  const isLeft = Object.hasOwn(from.left ?? {}, field);
  const isLost = isOlder && difference === "added" && kind === "backfill" && !isLeft;
  const reason = isLost
    ? `${JSON.stringify(field)} gets its default in every row: the values that rows had in it are not brought back`
    : change.reason;
  const isKey =
    kind === "breaking" && (to.primaryKey.includes(field) || to.primaryKey.join(",") === field);
  const modelMigrations = migrations.filter((migration) => migration.model === model.name);
  const rename = difference === "removed" ? renamedField(from, to) : undefined;
  const isRenamed = rename?.from === field;
  const blocked =
    upgrade === undefined && blockedBy(kind, isKey, model.name, from, to, modelMigrations);
  return {
    kind: isKey ? "change-primary-key" : fieldKinds[difference],
    class: kind,
    field,
    sideBySide,
    reason: isRenamed ? `${reason}. ${renamedFieldText(rename)}` : reason,
    ...(isRenamed && { renamedTo: rename.to }),
    ...(blocked && { blocked }),
  };
}

function blockedBy(
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

function listText(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(", ");
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

function movedText(indexes: readonly CompiledIndex[]): string {
  if (indexes.length === 0) return "";
  const names = indexes.map(({ name }) => name).join(", ");
  const [subject, object] =
    indexes.length === 1 ? [`the index ${names}`, "it"] : [`the indexes ${names}`, "them"];
  const isUnique = indexes.some(({ unique }) => unique);
  const conflicts = isUnique
    ? " A row whose new unique value another row has is not changed, and is reported as a failed row."
    : "";
  return `. The entries of ${subject} change with the rows. Programs with the new schema can use ${object} when every row is changed.${conflicts}`;
}

function nameText(field: string): string {
  return /^[\w$]+$/.test(field) ? field : JSON.stringify(field);
}

function transformStep(
  upgrade: RowUpgrade,
  allChanges: readonly RowChange[],
  moved: readonly CompiledIndex[],
): PlannedStep {
  const { steps, goesBack, changes, fields } = upgrade;
  const filled = changes.flatMap(({ field, class: kind }) =>
    kind === "backfill" ? JSON.stringify(field) : [],
  );
  // The migrations bring about these differences. The others have separate steps.
  const migrated = allChanges.filter(
    (change) => !changes.some(({ field, kind }) => field === change.field && kind === change.kind),
  );
  const otherFields = fields.filter(
    (field) => !allChanges.some((change) => change.field === field),
  );
  const sentences = [
    ...(steps.length > 0 ? [`Changes every row by ${steps.join(", then ")}`] : []),
    ...(goesBack ? ["this goes back to an earlier schema"] : []),
    ...(filled.length > 0 ? [`fills in ${filled.join(", ")} in every row that lacks it`] : []),
    ...migrated.map(({ reason }) => reason.replace(/[:;] (it needs|rows keep) .*$/, "")),
    ...otherFields.map((field) => `${JSON.stringify(field)} may change`),
  ];
  const reason = `${sentences.join("; ")}${movedText(moved)}`;
  return {
    kind: "transform-rows",
    class: goesBack ? "breaking" : steps.length > 0 ? "data" : "backfill",
    sideBySide: false,
    reason: reason.charAt(0).toUpperCase() + reason.slice(1),
  };
}
