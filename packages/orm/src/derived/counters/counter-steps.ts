import type { Counter } from "../../model/aggregates/counter.js";
import { type CounterName, counterName, rowCounter } from "../../model/aggregates/counter-name.js";
import {
  type CatalogEntry,
  type IndexState,
  isMaintained,
} from "../../state/catalog/catalog-entry.js";
import { countersIn, type StoredCounter } from "../../state/catalog/stored-counters.js";
import type { MigrationStep, PlannedStep } from "../../state/run/migration-step.js";
import type { ModelFacts } from "../../state/run/model-facts.js";
import { isSameField } from "../../state/schema/manifests/compile-stored-index.js";
import { isLearnedByOldPrograms, renamedIndexes } from "../entries/index-steps.js";
import { changedIndexes } from "../entries/planned-indexes.js";

/** Plans the builds of new counters and the removal of those that the model no longer has. */
export function counterSteps(facts: ModelFacts): PlannedStep[] {
  const { model } = facts;
  const stored = new Map(renamedCounters(facts).map((counter) => [counter.name, counter]));
  const steps: PlannedStep[] = [];
  for (const counter of model.counters) {
    const state = stored.get(counter.name)?.state;
    if (state === "readable") continue;
    const isNew = state === undefined || state === "absent" || state === "disabled";
    const reason = `${textOf(counter)} is ${isNew ? "built from the rows" : "being built"}.`;
    const sideBySide = isCounterLearned(facts, counter);
    const step = { kind: "build-counter", class: "backfill", sideBySide } as const;
    steps.push({ ...step, ...namesIn(counter), reason });
  }
  for (const counter of stored.values()) {
    const isDeclared = model.counters.some(({ name }) => name === counter.name);
    if (isDeclared || counter.state === "absent") continue;
    const isRunning = counter.state === "dropping" || counter.state === "disabled";
    const reason = isRunning
      ? `${textOf(counter)} is being removed.`
      : `${textOf(counter)} is dropped. In programs that have it, counting is slower or fails.`;
    const stepClass = isRunning ? "safe" : "breaking";
    const step = { kind: "drop-counter", class: stepClass, sideBySide: true } as const;
    steps.push({ ...step, ...namesIn(counter), reason });
  }
  return steps;
}

/**
 * Returns the counters of a catalog entry after a migration has begun. Dropped counters, and those
 * of changed indexes, become dropping.
 */
export function countersAfter(
  facts: ModelFacts,
  steps: readonly MigrationStep[],
): Pick<CatalogEntry, "counters"> {
  const { counters } = facts.entry;
  if (counters === undefined) return {};
  const changed = changedIndexes(facts, steps);
  const isDropStep = ({ kind, counter }: MigrationStep, name: string) =>
    kind === "drop-counter" && counter === name;
  const planned: Record<string, IndexState> = {};
  for (const { name, index, state } of renamedCounters(facts)) {
    // The progress of its build is stored under the old name. Without an entry here, the counter is
    // absent and its build starts again.
    if (state === "write-only" && !Object.hasOwn(counters, name)) continue;
    const isOfChanged = index !== undefined && changed.has(index);
    const isDropped =
      isOfChanged || state === "disabled" || steps.some((step) => isDropStep(step, name));
    planned[name] = isDropped ? "dropping" : state;
  }
  return { counters: planned };
}

/** Returns the readable counters that a planned entry no longer has maintained. */
export function droppedCounters(facts: ModelFacts, planned: CatalogEntry): StoredCounter[] {
  const newNames = renamedCounters(facts).map(({ name }) => name);
  return countersIn(facts.entry).filter(({ state }, i) => {
    const after = planned.counters?.[newNames[i]!] ?? "absent";
    return state === "readable" && !isMaintained(after);
  });
}

/** Returns the counters of the database in their order, by the new names of their indexes. */
function renamedCounters(facts: ModelFacts): readonly StoredCounter[] {
  const stored = countersIn(facts.entry);
  const renames = renamedIndexes(facts);
  if (renames.size === 0) return stored;
  const newNames = new Map([...renames].map(([newName, oldName]) => [oldName, newName]));
  return stored.map((counter) => {
    const index = counter.index && newNames.get(counter.index);
    return index ? { ...counter, index, name: counterName(index, counter.suffix) } : counter;
  });
}

/**
 * True if programs with the models before a migration maintain a new counter. Ranks are not
 * maintained by programs that do not have them.
 */
function isCounterLearned(
  facts: ModelFacts,
  { index: name, sum, ranked, unmarked }: Counter,
): boolean {
  if (ranked !== undefined) return false;
  const { manifest, storedRow = manifest } = facts;
  const fields = [sum?.field, unmarked].filter((field) => field !== undefined);
  if (!fields.every((field) => isSameField(field, storedRow.fields, manifest.fields))) return false;
  const index = facts.model.indexes.find((one) => one.name === name);
  if (index === undefined) return true;
  const isKnown = Object.hasOwn(facts.entry.indexes, index.name);
  return isKnown || isLearnedByOldPrograms(facts, index);
}

function namesIn({ name, suffix }: CounterName): Pick<PlannedStep, "counter" | "of"> {
  return { counter: name, of: suffix === "" ? `count(${name})` : name };
}

/** Names a counter at the beginning of a sentence. */
function textOf({ name, index, suffix, isRanked }: CounterName): string {
  if (name === rowCounter) return "The counter of all rows";
  if (suffix === "") return `The counter of the keys of ${name}`;
  if (isRanked) return `The counter of the ranks of ${index}, ${suffix},`;
  return index === undefined
    ? `The ${suffix} of all rows`
    : `The ${suffix} of the keys of ${index}`;
}
