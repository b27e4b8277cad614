import {
  type CatalogEntry,
  isEarlier,
  type StoredIndex,
  storedIndexOf,
} from "../../catalog/catalog-entry.js";
import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { hashOf } from "../../schema/hash.js";
import { indexManifest, isSameIndex, isSameKeyedIndex } from "../../schema/index-manifest.js";
import type { ModelFacts, PlannedStep } from "./migration-plan.js";

/**
 * Plans the steps of a model's indexes, in the order in which they are done. Entries are removed
 * before others are written.
 *
 * @param affected the indexes that have to be rebuilt because a transform changes their entries.
 */
export function planIndexes(
  facts: ModelFacts,
  affected: readonly CompiledIndex[],
): readonly PlannedStep[] {
  const renames = renamedIndexes(facts);
  const dropped = Object.entries(facts.entry.indexes).flatMap(
    ([name, stored]) => droppedIndex(facts, renames, name, stored) ?? [],
  );
  const declared = facts.model.indexes.flatMap((index) => [
    ...declaredIndex(facts, renames, index, affected.includes(index)),
  ]);
  const order = ["rename-index", "drop-index", "rebuild-index", "build-index"];
  const rankOf = ({ kind }: PlannedStep) => (order.indexOf(kind) + order.length) % order.length;
  return [...dropped, ...declared].sort((a, b) => rankOf(a) - rankOf(b));
}

/**
 * Finds the indexes that only have a new name: the database has the same entries at the same
 * prefix, under a name that the model no longer has.
 *
 * @returns the old names by the new names.
 */
export function renamedIndexes({ model, entry }: ModelFacts): ReadonlyMap<string, string> {
  const renames = new Map<string, string>();
  const isDeclared = (name: string) => model.indexes.some((index) => index.name === name);
  for (const index of model.indexes) {
    if (storedIndexOf(entry, index.name) !== undefined) continue;
    const manifest = indexManifest(index);
    const before = Object.entries(entry.indexes).find(
      ([name, stored]) => !isDeclared(name) && isBuilt(stored) && isSameIndex(stored, manifest),
    );
    if (before !== undefined) renames.set(index.name, before[0]);
  }
  return renames;
}

/** Returns the stored counters under the new names of their indexes. */
export function renamedCounters(facts: ModelFacts): NonNullable<CatalogEntry["counters"]> {
  const newNames = new Map(
    [...renamedIndexes(facts)].map(([newName, oldName]) => [oldName, newName]),
  );
  const counters = Object.entries(facts.entry.counters ?? {});
  return Object.fromEntries(counters.map(([name, state]) => [newNames.get(name) ?? name, state]));
}

/**
 * True if the index is complete. Others cannot be renamed, because the progress of a build and the
 * duplicates are stored under the name of the index.
 */
function isBuilt({ state }: StoredIndex): boolean {
  return state === "readable" || state === "disabled";
}

function isKept({ state }: StoredIndex): boolean {
  return state !== "absent" && state !== "dropping";
}

function droppedIndex(
  { model }: ModelFacts,
  renames: ReadonlyMap<string, string>,
  name: string,
  stored: StoredIndex,
): PlannedStep | undefined {
  const step = { kind: "drop-index", index: name } as const;
  if (stored.state === "dropping") {
    const reason = "Its entries are being removed";
    return { ...step, class: "safe", sideBySide: true, reason };
  }
  const isDeclared = model.indexes.some((index) => index.name === name);
  if (isDeclared || stored.state === "absent" || [...renames.values()].includes(name))
    return undefined;
  if (stored.state === "disabled") {
    const reason = "It has been replaced, and nobody reads it: its entries are removed";
    return { ...step, class: "safe", sideBySide: true, reason };
  }
  const twin = model.indexes.find(
    (index) => index.prefix !== stored.prefix && isSameKeyedIndex(indexManifest(index), stored),
  );
  const advice = twin
    ? `; ${JSON.stringify(twin.name)} has the same key: with prefix: ${JSON.stringify(stored.prefix)} it takes over the entries`
    : "";
  const reason = `The model has it no more: its entries are removed, and programs that query it are refused${advice}`;
  return { ...step, class: "breaking", sideBySide: false, reason };
}

function declaredIndex(
  facts: ModelFacts,
  renames: ReadonlyMap<string, string>,
  index: CompiledIndex,
  isAffected: boolean,
): PlannedStep[] {
  const { entry, duplicates = {} } = facts;
  const { name } = index;
  const before = renames.get(name);
  const stored = storedIndexOf(entry, before ?? name);
  const step = { index: name, sideBySide: false } as const;
  const steps: PlannedStep[] = [];
  if (before !== undefined) {
    const reason = `It was ${JSON.stringify(before)}: its entries stay; programs that have it by that name cannot write`;
    steps.push({ ...step, kind: "rename-index", class: "safe", reason });
  }
  if (stored === undefined || !isKept(stored)) {
    if (stored !== undefined && isReplaced(facts.model, index, stored)) return steps;
    return [...steps, buildStep(facts, index, stored)];
  }
  if (before === undefined && !isSameIndex(stored, indexManifest(index))) {
    return [...steps, rebuildStep(index, stored, changeReason(stored, index))];
  }
  if (isAffected) return [...steps, rebuildStep(index, stored, affectedReason(index))];
  if (stored.state === "write-only" || stored.state === "verifying") {
    const doing = stored.state === "verifying" ? "verified" : "built";
    const reason = `It is being ${doing}: that is under way`;
    steps.push({ ...step, kind: "build-index", class: "backfill", reason });
  }
  if (stored.state === "unique-pending") {
    const count = Object.hasOwn(duplicates, name) ? duplicates[name] : undefined;
    const rows =
      count === undefined ? "Rows have" : count === 1 ? "1 row has" : `${count} rows have`;
    const reason = `${rows} values that others have: the index can be read when the last of them is changed or deleted; until then a run does nothing about it`;
    steps.push({ ...step, class: "data", kind: "resolve-duplicates", reason });
  }
  return steps;
}

/**
 * Plans to rebuild an index. The step is breaking if the index goes back to an earlier definition,
 * because the program that changed it can then no longer write. It is also breaking if the index is
 * unique, because nothing keeps the values unique until the index is built.
 */
function rebuildStep(index: CompiledIndex, stored: StoredIndex, cause: string): PlannedStep {
  const step = { kind: "rebuild-index", index: index.name, sideBySide: false } as const;
  const goesBack = isEarlier(stored, indexManifest(index));
  // During its first build, an index does not keep values unique yet.
  const isEnforced = index.unique && stored.unique && stored.state !== "write-only";
  const reason = [
    cause,
    ...(goesBack ? [backText] : []),
    ...(isEnforced
      ? [
          "until then it cannot be read, and rows may take values that others have: they are reported as duplicates",
        ]
      : ["until then it cannot be read"]),
  ].join("; ");
  return { ...step, class: goesBack || isEnforced ? "breaking" : "rebuild", reason };
}

const backText =
  "it is what it was before, and another program has changed or dropped it since, which cannot write after this";

function changeReason(stored: StoredIndex, index: CompiledIndex): string {
  return `${differenceText(stored, index)}: it is built anew; under another name the old one stays readable until the new one is`;
}

function affectedReason({ store, where, parts }: CompiledIndex): string {
  const isByFunction = where !== undefined || parts.some(({ compute }) => compute !== undefined);
  const effect =
    isByFunction && store !== "copy"
      ? "may change its entries, for a function of the row makes them"
      : "changes its entries";
  return `The change of the rows ${effect}: it is built anew behind that`;
}

/**
 * True if another index of the model has replaced this one, so that it is not built. False if its
 * definition has changed since.
 */
export function isReplaced(
  { indexes }: CompiledModel,
  index: CompiledIndex,
  stored: StoredIndex,
): boolean {
  const { replacedBy } = stored;
  return (
    replacedBy !== undefined &&
    indexes.some(({ name }) => name === replacedBy) &&
    isSameIndex(stored, indexManifest(index))
  );
}

function buildStep(
  { model, entry, rows }: ModelFacts,
  index: CompiledIndex,
  stored: StoredIndex | undefined,
): PlannedStep {
  const step = { index: index.name, kind: "build-index", sideBySide: false } as const;
  const source =
    rows === undefined ? "from the rows" : `from ${rows} ${rows === 1 ? "row" : "rows"}`;
  if (stored !== undefined && isEarlier(stored, indexManifest(index))) {
    const reason = `${backText.charAt(0).toUpperCase()}${backText.slice(1)}`;
    return { ...step, class: "breaking", reason: `${reason}; it is built ${source}` };
  }
  const former = Object.entries(entry.indexes).find(
    ([name, { prefix }]) => name !== index.name && prefix === index.prefix,
  );
  if (former !== undefined && former[1].state === "absent") {
    const reason = `Its entries go where ${JSON.stringify(former[0])} had its own: a program that still knows that one would take them for its entries; give the index another prefix if there are such programs`;
    return { ...step, class: "breaking", reason };
  }
  const isFormerRemoved =
    former !== undefined && model.indexes.every((declared) => declared.name !== former[0]);
  const removalNote = isFormerRemoved
    ? `, after the entries of ${JSON.stringify(former[0])} are removed from its place`
    : stored?.state === "dropping"
      ? ", after its old entries are removed"
      : "";
  const reason = `It is new: it is built ${source}${removalNote}, and can be read when that is done`;
  return { ...step, class: "backfill", reason };
}

/** Describes how the definition of an index has changed. */
function differenceText(stored: StoredIndex, index: CompiledIndex): string {
  const now = indexManifest(index);
  const differences: string[] = [];
  const quoted = (fields: readonly string[]) => JSON.stringify(fields);
  if (hashOf(stored.fields) !== hashOf(now.fields))
    differences.push(`its key was ${quoted(stored.fields)} and is ${quoted(now.fields)}`);
  if (stored.unique !== now.unique)
    differences.push(`it is ${now.unique ? "" : "no longer "}unique`);
  const { normalized: normalizedBefore = stored.normalized, ...traitsBefore } = stored.traits ?? {};
  const { normalized: normalizedNow = now.normalized, ...traitsNow } = now.traits ?? {};
  if (hashOf(normalizedBefore) !== hashOf(normalizedNow))
    differences.push(normalizedText(normalizedNow));
  if (stored.prefix !== now.prefix)
    differences.push(
      `its prefix was ${JSON.stringify(stored.prefix)} and is ${JSON.stringify(now.prefix)}`,
    );
  if (hashOf(traitsBefore) !== hashOf(traitsNow))
    differences.push("what its entries are or hold has changed");
  if (differences.length === 0)
    differences.push(
      "the code of its functions has changed; if they give the same results, state a version in it",
    );
  const text = differences.join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * @param fields the normalized fields of an index over several fields; for an index over one field,
 * true if it is normalized.
 */
function normalizedText(fields: boolean | readonly string[]): string {
  if (typeof fields === "boolean") return fields ? "it normalizes now" : "it no longer normalizes";
  return `it normalizes ${JSON.stringify(fields)} now`;
}
