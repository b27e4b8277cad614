import { isWider } from "../json/is-wider.js";
import { hasTransform } from "../json/json-schema.js";
import { valueSchema } from "../json/value-schema.js";
import type { FieldManifest, RowManifest } from "../manifests/manifest.js";
import { isMade, otherFields } from "../manifests/row-manifest.js";
import { compareValues } from "./compare-values.js";

/**
 * The work that a step of a migration needs:
 *
 * - `"safe"`: none.
 * - `"backfill"`: derived values or defaults are written.
 * - `"rebuild"`: an index is rebuilt.
 * - `"data"`: a migration has to be written.
 * - `"breaking"`: the step has to be accepted. Programs with the old models stop working, stored
 *   data becomes invisible, or nothing keeps values unique for a while.
 */
export type StepClass = "safe" | "backfill" | "rebuild" | "data" | "breaking";

/** A difference between the rows of two schemas. */
export interface RowChange {
  /** The name of the field. For the primary key itself, its new fields, joined by commas. */
  readonly field: string;
  readonly kind: "added" | "changed" | "removed";
  readonly class: "safe" | "backfill" | "data" | "breaking";
  /**
   * True if programs with the old schema may keep writing while programs with the new one write.
   */
  readonly sideBySide: boolean;
  /** One or more clauses for people, separated by `; `. */
  readonly reason: string;
}

type ChangeClass = RowChange["class"];

const classes: readonly ChangeClass[] = ["safe", "backfill", "data", "breaking"];

/**
 * Returns one change for each field that differs: first the primary key itself, then the fields of
 * `to`, then the fields that only `from` has. If all changes are safe, rows of `from` are valid
 * rows of `to`.
 */
export function compareRows(from: RowManifest, to: RowManifest): RowChange[] {
  if (from.hash === to.hash) return [];
  const changes: RowChange[] = [];
  const keyChange = primaryKeyChange(from, to);
  if (keyChange !== undefined) changes.push(keyChange);
  for (const [name, field] of Object.entries(to.fields)) {
    const before = fieldOf(from, name);
    const change =
      before === undefined
        ? addedField(name, field, from, to)
        : changedField(name, before, field, to.primaryKey.includes(name));
    if (change !== undefined) changes.push(change);
  }
  for (const [name, field] of Object.entries(from.fields)) {
    if (fieldOf(to, name) === undefined) changes.push(removedField(name, field, to));
  }
  return changes;
}

/** True if a row can change from one schema to the other under its primary key. */
export function keepsPrimaryKey(from: RowManifest, to: RowManifest): boolean {
  if (primaryKeyChange(from, to) !== undefined) return false;
  const changes = compareRows(from, to);
  return !changes.some(({ field, ...change }) => {
    return change.class === "breaking" && to.primaryKey.includes(field);
  });
}

const keyAdvice =
  "the values of a primary key cannot be changed: add a field for the new values, and then make it the primary key";

/** True if both have the same fields as their primary key, in the same order. */
export function hasSameKey(a: RowManifest, b: RowManifest): boolean {
  return a.primaryKey.join("\n") === b.primaryKey.join("\n");
}

function primaryKeyChange(from: RowManifest, to: RowManifest): RowChange | undefined {
  if (hasSameKey(from, to)) return undefined;
  const [before, now] = [from.primaryKey, to.primaryKey].map((fields) => JSON.stringify(fields));
  return {
    field: to.primaryKey.join(","),
    kind: "changed",
    class: "breaking",
    sideBySide: false,
    reason: `The primary key was ${before} and is ${now}`,
  };
}

function addedField(
  name: string,
  field: FieldManifest,
  from: RowManifest,
  to: RowManifest,
): RowChange {
  const added = (kind: ChangeClass, sideBySide: boolean, reason: string): RowChange => {
    return { field: name, kind: "added", class: kind, sideBySide, reason };
  };
  const quoted = JSON.stringify(name);
  if (name === otherFields)
    return added("safe", true, "Rows may have other fields than those of the schema now");
  const former = Object.hasOwn(from.left ?? {}, name) ? from.left?.[name] : undefined;
  const others = former ?? fieldOf(from, otherFields);
  const isFree =
    others === undefined || isWider(valueSchema(others.schema), valueSchema(field.schema));
  if (!isFree && !to.primaryKey.includes(name)) {
    const reason = `${quoted} is new, and rows may hold something else in it already: it needs a migration`;
    return added("data", false, reason);
  }
  if (field.optional && !isMade(to, name))
    return added("safe", true, `${quoted} is new and optional: rows stay as they are`);
  if (field.defaulted) {
    const reason = `${quoted} is new and has a default: it is filled in where a row lacks it`;
    return added("backfill", false, reason);
  }
  const reason = `${quoted} is new and required: it needs a default, or a migration that fills it in`;
  return added("data", false, reason);
}

function removedField(name: string, { schema }: FieldManifest, to: RowManifest): RowChange {
  const removed = (kind: ChangeClass, reason: string): RowChange => {
    return { field: name, kind: "removed", class: kind, sideBySide: false, reason };
  };
  const quoted = JSON.stringify(name);
  if (name === otherFields) {
    const reason =
      "Rows may no longer have other fields than those of the schema: stored rows keep theirs";
    return removed("breaking", reason);
  }
  const others = fieldOf(to, otherFields);
  if (others !== undefined && isWider(valueSchema(schema), valueSchema(others.schema)))
    return removed("safe", `${quoted} is one of the other fields now: rows stay as they are`);
  const reason = `${quoted} is gone: rows keep what they hold in it; a migration can remove or move it`;
  return removed("breaking", reason);
}

function changedField(
  name: string,
  from: FieldManifest,
  to: FieldManifest,
  isKey: boolean,
): RowChange | undefined {
  const quoted = JSON.stringify(name);
  const found: Pick<RowChange, "class" | "sideBySide" | "reason">[] = [];
  const add = (kind: ChangeClass, sideBySide: boolean, reason: string) => {
    return { class: kind, sideBySide, reason };
  };
  // The schema of a transform's result does not show whether rows may lack it.
  const isComparable = hasTransform(from.schema) === hasTransform(to.schema);
  if (isComparable && from.optional && !to.optional) {
    const change = `${quoted} was optional and`;
    found.push(
      to.defaulted
        ? add(
            "backfill",
            false,
            `${change} has a default now: it is filled in where a row lacks it`,
          )
        : add(
            "data",
            false,
            `${change} is required: it needs a default, or a migration that fills it in`,
          ),
    );
  } else if (isComparable && !from.optional && to.optional) {
    const reason = `${quoted} was required and is optional: programs with the old schema still need it`;
    found.push({ class: "safe", sideBySide: false, reason });
  } else if (from.defaulted !== to.defaulted) {
    const reason = `${quoted} ${to.defaulted ? "has a default now" : "no longer has a default"}: rows stay as they are`;
    found.push({ class: "safe", sideBySide: true, reason });
  }
  for (const difference of compareValues(name, valueSchema(from.schema), valueSchema(to.schema))) {
    const { reason } = difference;
    if (isKey && difference.class !== "safe")
      found.push({ class: "breaking", sideBySide: false, reason: withKeyAdvice(reason) });
    else found.push({ ...difference, sideBySide: false });
  }
  if (found.length === 0) return undefined;
  return {
    field: name,
    kind: "changed",
    class: classes[Math.max(...found.map((one) => classes.indexOf(one.class)))] ?? "safe",
    sideBySide: found.every((one) => one.sideBySide),
    reason: found.map((one) => one.reason).join("; "),
  };
}

/** Returns the reason of a change for a program that already has the migration for it. */
export function migratedReason({ reason }: RowChange): string {
  return reason.replace(/: it needs (a default, or )?a migration( that [^;]*)?/g, ": run migrate");
}

function withKeyAdvice(reason: string): string {
  return `${reason.replace(/: it needs a migration.*$/, "")}: ${keyAdvice}`;
}

function fieldOf({ fields }: RowManifest, name: string): FieldManifest | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
