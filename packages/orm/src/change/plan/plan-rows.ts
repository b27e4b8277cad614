import type { CompiledIndex } from "../../model/compiled-model.js";
import type { MigrationStep, PlannedStep } from "../../state/run/migration-step.js";
import type { ModelFacts } from "../../state/run/model-facts.js";
import type { RowManifest } from "../../state/schema/manifests/manifest.js";
import { schemaFunctions, wholeRow } from "../../state/schema/manifests/schema-functions.js";
import { compareRows, type RowChange } from "../../state/schema/upgrade/compare-rows.js";
import { renamedField, renamedFieldText } from "../../state/schema/upgrade/renamed-field.js";
import { findUpgrade, type RowUpgrade } from "../../state/schema/upgrade/row-upgrade.js";
import type { PlanWarning } from "./migration-plan.js";
import { listText, missingLink, missingMigration } from "./missing-migration.js";
import { leftText } from "./remove-values.js";

/**
 * Plans the change of the rows to the schema of the model.
 *
 * @param moved the indexes whose entries change together with the rows.
 */
export function planRows(facts: ModelFacts, moved: readonly CompiledIndex[]): PlannedStep[] {
  const { model, entry, storedRow, manifest: to, upgrade } = facts;
  const { schema, transform } = entry;
  if (schema === undefined) return [];
  const isSame = schema.hash === to.hash;
  if (isSame ? transform === undefined : facts.isAccepted) return [];
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
  const steps = remaining.map((change) => fieldStep(change, facts, storedRow));
  if (upgrade === undefined) return steps;
  if (!upgrade.isIdentity) steps.push(transformStep(upgrade, allChanges, moved));
  else if (transform !== undefined) {
    const reason = `An interrupted change of all rows of ${model.name} is completed, to the schema of the model`;
    steps.push({ ...incomplete, reason });
  }
  return withLeftOut(facts.isOlder ? goingBack(steps, facts, storedRow) : steps, upgrade);
}

/** Marks the steps of a program that is older than the database, and says what is missing. */
function goingBack(
  steps: PlannedStep[],
  { model, migrations, manifest }: ModelFacts,
  storedRow: RowManifest,
): PlannedStep[] {
  const breaking = asBreaking(steps, model.name);
  const last = breaking.at(-1);
  const own = migrations.filter((migration) => migration.model === model.name);
  const missing = missingLink(storedRow, manifest, own);
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
  { model, manifest: to, upgrade, migrations, isOlder = false }: ModelFacts,
  from: RowManifest,
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
    upgrade === undefined && missingMigration(kind, isKey, model.name, from, to, modelMigrations);
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

/**
 * Warns of functions in a model's schema that the database does not know. Stored rows may not be
 * what these functions accept or return. Fields with another change have steps instead.
 */
export function planWarnings({
  model,
  storedRow,
  manifest,
  isAccepted,
}: ModelFacts): PlanWarning[] {
  if (storedRow === undefined || isAccepted) return [];
  const { functions: recorded = {} } = storedRow;
  const changes = compareRows(storedRow, manifest);
  const warnings: PlanWarning[] = [];
  for (const [name, hash] of Object.entries(schemaFunctions(model.schema))) {
    const isKnown = Object.hasOwn(recorded, name) && recorded[name] === hash;
    if (isKnown || changes.some(({ field }) => field === name)) continue;
    const isField = name !== wholeRow;
    const subject = isField ? `the field ${name} of ${model.name}` : `the rows of ${model.name}`;
    const advice = isField ? ` with changes: [${JSON.stringify(name)}]` : "";
    const reason = `The functions in the schema of ${subject} (transforms, refinements, z.custom) have changed, or are built in another way. Stored rows stay as they are and are not checked. If they must change, write a migration${advice}.`;
    warnings.push({ model: model.name, ...(isField && { field: name }), reason });
  }
  return warnings;
}
