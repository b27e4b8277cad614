import {
  type CatalogEntry,
  countersOfIndex,
  type IndexState,
  type StoredIndex,
  storedIndexOf,
  withCounterStates,
  withoutCounter,
} from "../../catalog/catalog-entry.js";
import { type AnyDatabase, tableContextOf } from "../../context/any-database.js";
import type { TableContext } from "../../context/table-context.js";
import { buildCounters } from "../../derived/counters/build-counters.js";
import { dropIndexes } from "../../derived/drop-indexes.js";
import { backfill } from "../../derived/entries/fill/backfill.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import { UnknownIndexError } from "../../errors/schema-errors.js";
import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { changeCatalog } from "../../run/change-catalog.js";
import { takeLease } from "../../run/lease.js";
import { createRun, type MigrationRun, type RunOptions } from "../../run/migration-run.js";
import { hashOf } from "../../schema/manifests/hash.js";
import { codeOf } from "../../schema/manifests/index-code.js";
import { indexManifest } from "../../schema/manifests/index-manifest.js";
import { findStaleCopies, type StaleCopies } from "../verify/stale-copies.js";

/**
 * `"backfill"` builds the new index. `"switch"` makes reads use it, while both indexes are
 * maintained. `"back"` makes reads use the old index again. `"clean-up"` removes the entries of the
 * old index.
 */
export type ReplaceStep = "backfill" | "switch" | "back" | "clean-up";

/** A step that replaces one index of a model with another. The model has both. */
export interface IndexReplacement {
  /** The name of the old index. */
  readonly from: string;
  /** The name of the new index, whose prefix differs from that of the old index. */
  readonly to: string;
  readonly step: ReplaceStep;
}

/** The result of a step of a replacement. */
export interface ReplacedIndex {
  readonly model: string;
  readonly from: string;
  readonly to: string;
  readonly step: ReplaceStep;
  /**
   * `"not-ready"`: the new index cannot be read yet, and nothing was changed. `"duplicates"`: the
   * new index is unique and was built, but rows share a value and have to be changed. `"stopped"`:
   * the signal stopped the step, and the same call resumes it.
   */
  readonly status: "done" | "not-ready" | "duplicates" | "stopped";
  /** The states after the step. */
  readonly states: { readonly from: IndexState; readonly to: IndexState };
  /** The steps that may follow. */
  readonly next: readonly ReplaceStep[];
  /**
   * The copies of the old index that differ from their rows. Set by `"backfill"` if the old index
   * holds copies. They were not used to build the new index.
   */
  readonly staleCopies?: StaleCopies;
}

interface Pair {
  readonly from: CompiledIndex;
  readonly to: CompiledIndex;
}

/**
 * Runs one step of replacing an index with another, beside readers and writers, for example an
 * index of copies with an index of pointers. The model has both. Each step can be called again, and
 * resumes if it was stopped.
 *
 * The new index is built from the rows, never from the entries of the old one. The old index is
 * maintained until it is cleaned up, so that it is possible to go back.
 *
 * ```ts
 * await replaceIndex(db, { model: "users", from: "byNameCopy", to: "byName", step: "backfill" });
 * ```
 *
 * @throws {UnknownIndexError} if the model does not have one of the indexes.
 * @throws {InvalidArgumentError} if the indexes differ in more than what their entries hold, or if
 * the step cannot follow what has been done. The message names the steps that can.
 * @throws {StaleSchemaError} if the database has a newer schema than this program.
 * @throws {LeaseLostError} if another runner has taken over.
 */
export async function replaceIndex(
  database: AnyDatabase,
  { model: modelName, from, to, step }: IndexReplacement & { readonly model: string },
  options: RunOptions & { readonly wait?: boolean } = {},
): Promise<ReplacedIndex | { readonly status: "busy" | "stopped" }> {
  const context = tableContextOf(database, modelName);
  const { kv, model, catalog } = context;
  const pair = { from: findIndex(model, from), to: findIndex(model, to) };
  if (from === to) throw new InvalidArgumentError(model.name, "to", "it is the same index as from");
  assertSameKeys(model, pair);
  const lease = await takeLease(kv, { wait: options.wait ?? true, signal: options.signal });
  if (typeof lease === "string") return { status: lease };
  try {
    const run = createRun(lease, options);
    await catalog.reload();
    if (catalog.snapshot.other !== undefined) {
      const reason = "the primary key of the model changes; complete or give up this change first";
      throw new InvalidArgumentError(model.name, "step", reason, "replaceIndex");
    }
    const outcome = await runStep(context, pair, step, run);
    const states = statesOf(context, pair);
    return { model: model.name, from, to, step, ...outcome, states, next: nextSteps(states) };
  } finally {
    await lease.release();
  }
}

type Outcome = Pick<ReplacedIndex, "status" | "staleCopies">;

async function runStep(
  context: TableContext,
  pair: Pair,
  step: ReplaceStep,
  run: MigrationRun,
): Promise<Outcome> {
  switch (step) {
    case "backfill":
      return await buildNewIndex(context, pair, run);
    case "switch":
      return await switchOver(context, pair, run);
    case "back":
      return await goBack(context, pair, run);
    case "clean-up":
      return await cleanUp(context, pair, run);
    default:
      throw new InvalidArgumentError(
        context.model.name,
        "step",
        "it must be backfill, switch, back or clean-up",
      );
  }
}

/** Builds the new index. If the old index holds copies, finds those that are stale. */
async function buildNewIndex(
  context: TableContext,
  pair: Pair,
  run: MigrationRun,
): Promise<Outcome> {
  assertStep(context, pair, "backfill");
  // The backfill also builds other new indexes of the model. They would be built from rows that are
  // about to change.
  if (context.catalog.snapshot.entry.transform !== undefined) {
    const reason = "a change of all rows is not complete; run migrate first";
    throw new InvalidArgumentError(context.model.name, "step", reason);
  }
  if (context.catalog.snapshot.stateOf(pair.to) === "dropping") {
    if (!(await dropIndexes(context, run))) return { status: "stopped" };
  }
  // If the new index was itself replaced and cleaned up before, it and its counter have to be built
  // again.
  await changeCatalog(context, run.lease, (entry) => {
    const stored = storedIndexOf(entry, pair.to.name);
    if (stored?.replacedBy === undefined || stored.state !== "absent") return undefined;
    const to = withIndex(entry, pair.to, stored.state);
    return countersOfIndex(to, pair.to.name).reduce(withoutCounter, to);
  });
  const isBuilt = (state: IndexState) =>
    state === "readable" || state === "disabled" || state === "unique-pending";
  if (!isBuilt(context.catalog.snapshot.stateOf(pair.to)) && !(await backfill(context, run))) {
    return { status: "stopped" };
  }
  if (!(await buildCounters(context, run))) return { status: "stopped" };
  await context.catalog.reload();
  const status =
    context.catalog.snapshot.stateOf(pair.to) === "unique-pending" ? "duplicates" : "done";
  if (pair.from.store === "pointer") return { status };
  const staleCopies = await findStaleCopies(context, pair.from, run);
  return staleCopies === "stopped" ? { status: "stopped" } : { status, staleCopies };
}

async function switchOver(context: TableContext, pair: Pair, run: MigrationRun): Promise<Outcome> {
  let status: Outcome["status"] = "done";
  await changeCatalog(context, run.lease, (entry) => {
    assertStep(context, pair, "switch");
    status = "done";
    const { from, to } = statesOf(context, pair);
    if (to !== "readable" && to !== "disabled") {
      status = to === "unique-pending" ? "duplicates" : "not-ready";
      return undefined;
    }
    if (from === "disabled") return undefined;
    const switched = withIndex(entry, pair.from, "disabled", pair.to.name);
    return to === "readable" ? switched : withIndex(switched, pair.to, "readable");
  });
  return { status };
}

async function goBack(context: TableContext, pair: Pair, run: MigrationRun): Promise<Outcome> {
  await changeCatalog(context, run.lease, (entry) => {
    assertStep(context, pair, "back");
    const isDisabled = statesOf(context, pair).from === "disabled";
    return isDisabled ? withIndex(entry, pair.from, "readable") : undefined;
  });
  return { status: "done" };
}

/** After its first commit, the step `"back"` is no longer possible. */
async function cleanUp(context: TableContext, pair: Pair, run: MigrationRun): Promise<Outcome> {
  let isReady = true;
  await changeCatalog(context, run.lease, (entry) => {
    assertStep(context, pair, "clean-up");
    const { from, to } = statesOf(context, pair);
    isReady = from !== "disabled" || to === "readable";
    if (from !== "disabled" || !isReady) return undefined;
    const dropping = withIndex(entry, pair.from, "dropping", pair.to.name);
    return withCounterStates(dropping, countersOfIndex(entry, pair.from.name), "dropping");
  });
  if (!isReady) return { status: "not-ready" };
  if (statesOf(context, pair).from !== "dropping") return { status: "done" };
  const isDone = await dropIndexes(context, run);
  await context.catalog.reload();
  return { status: isDone ? "done" : "stopped" };
}

function withIndex(
  entry: CatalogEntry,
  compiled: CompiledIndex,
  state: IndexState,
  replacedBy?: string,
): CatalogEntry {
  const stored = storedIndexOf(entry, compiled.name);
  if (stored === undefined) return entry;
  const { replacedBy: _, ...described } = stored;
  const index: StoredIndex = {
    ...described,
    state,
    ...(replacedBy !== undefined && { replacedBy }),
  };
  return { ...entry, indexes: { ...entry.indexes, [compiled.name]: index } };
}

/** @throws {InvalidArgumentError} if the two differ in anything but what their entries hold. */
function assertSameKeys(model: CompiledModel, { from, to }: Pair): void {
  const [old, now] = [aspectsOf(from), aspectsOf(to)];
  const differing = Object.keys(old).filter(
    (aspect) => hashOf(old[aspect]) !== hashOf(now[aspect]),
  );
  if (differing.length === 0) return;
  const reason = `the indexes ${from.name} and ${to.name} do not find the same rows: they differ in ${differing.join(", ")}`;
  throw new InvalidArgumentError(model.name, "to", reason);
}

/** Returns what determines the keys of a row, under the names that error messages use. */
function aspectsOf(index: CompiledIndex): Readonly<Record<string, unknown>> {
  const manifest = indexManifest(index);
  const { fields, unique, normalized, functions = null, traits = {} } = manifest;
  const {
    descending = null,
    each = null,
    partial = false,
    where = partial,
    computed = false,
  } = traits;
  return {
    key: [fields, descending, computed],
    each,
    unique,
    normalize: traits.normalized ?? normalized,
    where,
    "the code of their functions, or its version": functions?.startsWith("version ")
      ? functions
      : codeOf(manifest),
  };
}

/** @throws {InvalidArgumentError} if the step cannot follow what has been done. */
function assertStep(context: TableContext, pair: Pair, step: ReplaceStep): void {
  const { model, catalog } = context;
  const states = statesOf(context, pair);
  const replacedBy = storedIndexOf(catalog.snapshot.entry, pair.from.name)?.replacedBy;
  if (replacedBy !== undefined && replacedBy !== pair.to.name && step !== "back") {
    const reason = `the index ${pair.from.name} was already replaced with ${replacedBy}`;
    throw new InvalidArgumentError(model.name, "to", reason);
  }
  const isAllowed = {
    backfill: states.from === "readable",
    switch: states.from === "readable" || states.from === "disabled",
    back: states.from === "readable" || states.from === "disabled",
    "clean-up":
      states.from === "disabled" ||
      states.from === "dropping" ||
      (states.from === "absent" && replacedBy !== undefined),
  }[step];
  if (isAllowed) return;
  const next = nextSteps(states);
  const advice =
    next.length > 0
      ? `the next step is ${next.join(" or ")}`
      : replacedBy === undefined
        ? "run migrate to build it"
        : "it was replaced; to use it again, replace the other index with it";
  const reason = `the index ${pair.from.name} is ${states.from} and ${pair.to.name} is ${states.to}: ${advice}`;
  throw new InvalidArgumentError(model.name, "step", reason);
}

function nextSteps({ from, to }: ReplacedIndex["states"]): ReplaceStep[] {
  if (from === "readable") {
    return to === "readable" || to === "disabled" ? ["switch"] : ["backfill"];
  }
  if (from === "disabled") return to === "readable" ? ["back", "clean-up"] : ["back"];
  return from === "dropping" ? ["clean-up"] : [];
}

function statesOf({ catalog }: TableContext, { from, to }: Pair): ReplacedIndex["states"] {
  const { snapshot } = catalog;
  return { from: snapshot.stateOf(from), to: snapshot.stateOf(to) };
}

function findIndex(model: CompiledModel, name: string): CompiledIndex {
  const index = model.indexes.find((candidate) => candidate.name === name);
  if (index !== undefined) return index;
  throw new UnknownIndexError(
    model.name,
    name,
    model.indexes.map((known) => known.name),
  );
}
