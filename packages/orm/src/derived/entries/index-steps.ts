import type { CompiledIndex } from "../../model/compiled-model.js";
import {
  type CatalogEntry,
  type IndexState,
  isEarlier,
  isMaintained,
  nextOf,
  type PlacedIndex,
  placeOf,
  type StoredIndex,
  storedIndexOf,
} from "../../state/catalog/catalog-entry.js";
import { storedDefinition } from "../../state/catalog/stored-indexes.js";
import type { PlannedStep } from "../../state/run/migration-step.js";
import { indexesAffectedByUpgrade, type ModelFacts } from "../../state/run/model-facts.js";
import {
  isMadeByFunctions,
  isMaintainedByData,
} from "../../state/schema/manifests/compile-stored-index.js";
import { indexDifferences } from "../../state/schema/manifests/index-differences.js";
import {
  differsInCode,
  indexManifest,
  isSameIndex,
  isSameKeyedIndex,
} from "../../state/schema/manifests/index-manifest.js";
import { computesEarlierEntries } from "../../state/schema/upgrade/affected-indexes.js";

/**
 * Plans the steps of a model's indexes, in the order in which they are done. Entries are removed
 * before others are written. An index whose entries a transform changes is rebuilt if the transform
 * cannot change them with the rows.
 */
export function indexSteps(facts: ModelFacts): readonly PlannedStep[] {
  const renames = renamedIndexes(facts);
  const affected = indexesAffectedByUpgrade(facts);
  const dropped = Object.entries(facts.entry.indexes).flatMap(([name, stored]) =>
    stored.isOther ? [] : (droppedIndex(facts, renames, name, stored) ?? []),
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
    const before = Object.entries(entry.indexes).find(([name, stored]) => {
      const isFormer = !isDeclared(name) && !stored.isOther && isBuilt(stored);
      return isFormer && isSameIndex(stored, manifest);
    });
    if (before !== undefined) renames.set(index.name, before[0]);
  }
  return renames;
}

/** Others cannot be renamed: the progress of a build is stored under the name. */
function isBuilt({ state, next }: StoredIndex): boolean {
  return next === undefined && state === "readable";
}

/** False for an index that is absent, or that a run removes. */
function isKept({ state }: StoredIndex): boolean {
  return state !== "absent" && state !== "dropping" && state !== "disabled";
}

function droppedIndex(
  { model, entry }: ModelFacts,
  renames: ReadonlyMap<string, string>,
  name: string,
  stored: StoredIndex,
): PlannedStep | undefined {
  // Programs that have the unique index can no longer write.
  const sideBySide = !stored.unique;
  const step = { kind: "drop-index", index: name, sideBySide } as const;
  if (stored.state === "dropping") {
    const reason = `The entries of the index ${name} are being removed.`;
    return { ...step, class: "safe", reason };
  }
  if (stored.state === "disabled") {
    const reason = `The index ${name} is no longer read. Its entries are removed.`;
    return { ...step, class: "safe", reason };
  }
  const declared = model.indexes.find((index) => index.name === name);
  if (
    declared !== undefined &&
    stored.next !== undefined &&
    nextOf(stored, declared) === undefined
  ) {
    const reason = `The database rebuilds the index ${name} with another definition. This is given up, and programs with that definition can no longer write.`;
    return { ...step, class: "breaking", reason };
  }
  const isLeaving = declared === undefined && stored.state !== "absent";
  const hasLeft = stored.leftPlaces !== undefined || stored.leaving !== undefined;
  if (hasLeft && !isLeaving) {
    const values = stored.leaving?.unique ? " Until then, its values stay unique." : "";
    const reason = `The entries of another definition of the index ${name} are being removed.${values}`;
    return { ...step, class: "safe", sideBySide: true, reason };
  }
  if (declared !== undefined || stored.state === "absent" || [...renames.values()].includes(name))
    return undefined;
  const twin = model.indexes.find(
    (index) => index.prefix !== stored.prefix && isSameKeyedIndex(indexManifest(index), stored),
  );
  const renamedTo = twin && storedIndexOf(entry, twin.name) === undefined ? twin.name : undefined;
  const advice = twin
    ? ` The index ${twin.name} has the same key. Give it prefix: ${JSON.stringify(stored.prefix)} to take over the entries instead.`
    : "";
  const fence = sideBySide
    ? ""
    : " Programs that have this unique index can no longer write, because its values may be repeated from now on.";
  const reason = `The model no longer has the index ${name}. Its entries are removed, and queries of other programs that use it fail.${fence}${advice}`;
  return {
    ...step,
    class: "breaking",
    reason,
    ...(renamedTo !== undefined && { renamedTo, prefix: placeOf(stored) }),
  };
}

function declaredIndex(
  facts: ModelFacts,
  renames: ReadonlyMap<string, string>,
  index: CompiledIndex,
  isAffected: boolean,
): PlannedStep[] {
  const { entry } = facts;
  const { name } = index;
  const before = renames.get(name);
  const stored = storedIndexOf(entry, before ?? name);
  const step = { index: name, sideBySide: false } as const;
  const steps: PlannedStep[] = [];
  if (before !== undefined) {
    const reason = `The index ${name} was called ${before}. Its entries stay, and queries can use either name. Programs that have it as ${before} can no longer write.`;
    steps.push({ ...step, kind: "rename-index", class: "safe", reason });
  }
  if (stored === undefined || !isKept(stored)) {
    return [...steps, buildStep(facts, index, stored)];
  }
  if (before === undefined && !isSameIndex(stored, indexManifest(index))) {
    const change = changeText(index, stored);
    if (!isRebuiltBeside(facts, index, stored)) {
      const advice = `Give the changed index another name to keep ${name} readable until then.`;
      return [...steps, rebuildStep(index, stored, change, advice)];
    }
    const next = nextOf(stored, index);
    if (next?.state === "unique-pending") return [...steps, duplicatesStep(index)];
    if (next === undefined || !isMaintained(next.state))
      return [...steps, besideStep(index, stored, change)];
    const reason = `The index ${name} is being rebuilt beside its entries. A run resumes this.`;
    return [...steps, { ...step, kind: "build-index", class: "backfill", reason }];
  }
  if (isAffected && !isMovedWithRows(entry, index, stored.state))
    return [...steps, rebuildStep(index, stored, affectedText(index))];
  if (stored.state === "write-only" || stored.state === "verifying") {
    const activity = stored.state === "verifying" ? "verified" : "built";
    const reason = `The index ${name} is being ${activity}. A run resumes this.`;
    steps.push({ ...step, kind: "build-index", class: "backfill", reason });
  }
  if (stored.state === "unique-pending") steps.push(duplicatesStep(index));
  return steps;
}

function duplicatesStep({ name }: CompiledIndex): PlannedStep {
  const reason = `Several rows have the same value of the unique index ${name}. Change or delete all but one row of each value. The index can be read after that. A run only checks the rows again.`;
  return { kind: "resolve-duplicates", class: "data", index: name, sideBySide: false, reason };
}

/**
 * True if queries can use the entries of a changed index until its new entries are complete. The
 * old entries must be complete and stay complete, this program must be able to compute them, and no
 * other index may need their place.
 */
export function isRebuiltBeside(
  facts: ModelFacts,
  index: CompiledIndex,
  stored: StoredIndex,
): boolean {
  const { model, entry } = facts;
  const isPlaceWanted = model.indexes.some((other) => {
    return other !== index && other.prefix === placeOf(stored);
  });
  if (stored.state !== "readable" || isPlaceWanted) return false;
  const definition = storedDefinition(model, index, stored);
  if (definition === undefined || isSameIndex(stored, indexManifest(index))) return false;
  const staysComplete = (one: CompiledIndex, { state }: PlacedIndex) => {
    const isAffected = indexesAffectedByUpgrade(facts, [one]).length > 0;
    // Only the earlier definition is unique, so a changed row may have the value of another row.
    const isFreed = one === definition && stored.unique && !index.unique;
    return !isAffected || (!isFreed && isMovedWithRows(entry, one, state));
  };
  const next = nextOf(stored, index);
  return staysComplete(definition, stored) && (next === undefined || staysComplete(index, next));
}

function besideStep(index: CompiledIndex, stored: StoredIndex, cause: string): PlannedStep {
  const { name } = index;
  const goesBack = isEarlier(stored, indexManifest(index));
  const sentences = [
    cause,
    ...(goesBack ? [backText] : []),
    `The index ${name} is rebuilt beside its entries. Until the new ones are complete, queries use the old ones, and queries that only the new ones serve fail.`,
  ];
  return {
    kind: "rebuild-index",
    class: goesBack ? "breaking" : "rebuild",
    index: name,
    sideBySide: false,
    ...(differsInCode(stored, indexManifest(index)) && { onlyFunctions: true }),
    reason: sentences.join(" "),
  };
}

/**
 * Plans to rebuild an index. The step is breaking if the index goes back to an earlier definition,
 * because the program that changed it can then no longer write. It is also breaking if the index is
 * unique, because nothing keeps the values unique until the index is built.
 */
function rebuildStep(
  index: CompiledIndex,
  stored: StoredIndex,
  cause: string,
  advice?: string,
): PlannedStep {
  const { name, unique } = index;
  const goesBack = isEarlier(stored, indexManifest(index));
  // During its first build, an index does not keep values unique yet.
  const isEnforced = unique && stored.unique && stored.state !== "write-only";
  const sentences = [
    cause,
    ...(goesBack ? [backText] : []),
    `The ${unique ? "unique " : ""}index ${name} is rebuilt. Queries that use it fail until the rebuild finishes.`,
    ...(isEnforced
      ? ["Until then, rows can take values that other rows have. They are reported as duplicates."]
      : []),
    ...(advice === undefined ? [] : [advice]),
  ];
  return {
    kind: "rebuild-index",
    class: goesBack || isEnforced ? "breaking" : "rebuild",
    index: name,
    sideBySide: false,
    ...(differsInCode(stored, indexManifest(index)) && { onlyFunctions: true }),
    reason: sentences.join(" "),
  };
}

const backText =
  "This goes back to an earlier definition. Programs with the later one can no longer write.";

/**
 * True if a transform writes each row with the new entries of an index and removes its earlier
 * ones. An index that does not keep values unique yet cannot refuse those that are taken. If
 * another transform is under way, rows may have taken unique values that other rows would get back.
 */
function isMovedWithRows(
  { transform }: CatalogEntry,
  index: CompiledIndex,
  state: IndexState,
): boolean {
  const canMove = !index.unique || (state === "readable" && transform === undefined);
  return canMove && computesEarlierEntries(index);
}

function affectedText({ name, keyFields }: CompiledIndex): string {
  return keyFields === undefined
    ? `The change of the rows may change the entries of the index ${name}, because a function makes them. If the function does not read the changed fields, state the fields that it reads, such as reads: ["name"].`
    : `The change of the rows changes the entries of the index ${name}.`;
}

function buildStep(
  facts: ModelFacts,
  index: CompiledIndex,
  stored: StoredIndex | undefined,
): PlannedStep {
  const { model } = facts;
  const { indexes } = facts.entry;
  const { name, prefix } = index;
  const sideBySide = isLearnedByOldPrograms(facts, index);
  const step = { index: name, kind: "build-index", sideBySide } as const;
  if (stored !== undefined && isEarlier(stored, indexManifest(index))) {
    const reason = `The index ${name} is built from the rows. ${backText}`;
    return { ...step, class: "breaking", reason };
  }
  const former = Object.entries(indexes).find(
    ([other, one]) => other !== name && one.prefix === prefix,
  );
  if (former !== undefined && former[1].state === "absent") {
    const reason = `The new index ${name} stores its entries where the index ${former[0]} had its own. A program that still has ${former[0]} would take them for its entries. Give ${name} another prefix if there are such programs.`;
    return { ...step, class: "breaking", reason };
  }
  const isFormerRemoved =
    former !== undefined && model.indexes.every((declared) => declared.name !== former[0]);
  const removalNote = isFormerRemoved
    ? `, after the entries of the index ${former[0]} under the same prefix are removed`
    : stored !== undefined && stored.state !== "absent"
      ? ", after its old entries are removed"
      : "";
  const learned = isMadeByFunctions(indexManifest(index))
    ? " Programs that do not have it cannot maintain it, because a function makes its entries."
    : "";
  const reason = `The new index ${name} is built from the rows${removalNote}. It can be read after that.${learned}`;
  return { ...step, class: "backfill", reason };
}

function changeText(index: CompiledIndex, stored: StoredIndex): string {
  const { name } = index;
  const now = indexManifest(index);
  const change = `The index ${name} changes: ${indexDifferences(stored, now).join(", ")}.`;
  if (!differsInCode(stored, now)) return change;
  return `${change} If the functions return the same, keep the entries with --same-functions, and give the index a version.`;
}

/**
 * True if programs with the models before a migration maintain a new index, because its definition
 * is data that they read from the catalog.
 */
export function isLearnedByOldPrograms(
  { manifest, storedRow = manifest }: ModelFacts,
  index: CompiledIndex,
): boolean {
  return isMaintainedByData(indexManifest(index), storedRow.fields, manifest.fields);
}
