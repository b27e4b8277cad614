import type { CatalogEntry, IndexState, StoredIndex } from "../../catalog/catalog-entry.js";
import { type AnyDatabase, tableContextOf } from "../../context/any-database.js";
import type { TableContext } from "../../context/table-context.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import { UnknownIndexError } from "../../errors/schema-errors.js";
import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { hashOf } from "../../schema/hash.js";
import { indexManifest } from "../../schema/index-manifest.js";
import { buildCounters } from "../build/build-counters.js";
import { dropIndexes } from "../build/drop-indexes.js";
import { takeLease } from "../run/lease.js";
import { type MigrationRun, migrationRun, type RunOptions } from "../run/migration-run.js";
import { findStaleCopies, type StaleCopies } from "../verify/stale-copies.js";
import { backfill } from "./backfill.js";

/**
 * `"backfill"` builds the new index, `"switch"` makes reads use it while both are written, `"back"` makes them use the old one
 * again, `"clean-up"` removes the entries of the old one.
 */
export type ReplaceStep = "backfill" | "switch" | "back" | "clean-up";

/** Which index takes the place of which. The model has both. */
export interface IndexReplacement {
  /** The name of the old one. */
  readonly from: string;
  /** The name of the new one, which has a prefix of its own. */
  readonly to: string;
  readonly step: ReplaceStep;
}

/** What a step of a replacement has come to. */
export interface ReplacedIndex {
  readonly model: string;
  readonly from: string;
  readonly to: string;
  readonly step: ReplaceStep;
  /**
   * `"not-ready"`: the new index cannot be read yet, and nothing was changed. `"duplicates"`: it is unique and was built, and
   * waits for rows with the same value to be changed. `"stopped"`: by the signal; the same call goes on there.
   */
  readonly status: "done" | "not-ready" | "duplicates" | "stopped";
  /** What they are now. */
  readonly states: { readonly from: IndexState; readonly to: IndexState };
  /** Steps that may follow. */
  readonly next: readonly ReplaceStep[];
  /** Of `"backfill"`, where the old index has copies: those that differ from their rows. They were not used. */
  readonly staleCopies?: StaleCopies;
}

/** The two indexes of a replacement, as the model declares them. */
interface Pair {
  readonly from: CompiledIndex;
  readonly to: CompiledIndex;
}

/**
 * Does one step of putting an index in the place of another, such as one of pointers for one of copies: `"backfill"`, `"switch"`,
 * `"back"`, `"clean-up"`. The model has both.
 *
 * ```ts
 * await replaceIndex(db, { model: "users", from: "byNameCopy", to: "byName", step: "backfill" });
 * ```
 *
 * @throws {UnknownIndexError} for an index that the model does not have.
 * @throws {InvalidArgumentError} for indexes that differ in more than what their entries hold, and for a step that cannot
 * follow what has been done; it says which can.
 * @throws {StaleSchemaError} where the database has a newer schema than this program.
 * @throws {LeaseLostError} where another runner has taken over.
 */
export async function replaceIndex(
  database: AnyDatabase,
  replacement: IndexReplacement & { readonly model: string },
  options: RunOptions & { readonly wait?: boolean } = {},
): Promise<ReplacedIndex | { readonly status: "busy" | "stopped" }> {
  const context = tableContextOf(database, replacement.model);
  const lease = await takeLease(context.kv, { wait: options.wait ?? true, signal: options.signal });
  if (typeof lease === "string") return { status: lease };
  try {
    return await runReplaceStep(context, replacement, migrationRun(lease, options));
  } finally {
    await lease.release();
  }
}

/**
 * Does one step of putting an index in the place of another, such as one of pointers for one of copies, beside readers and
 * writers. Each step can be called again, and goes on where it was stopped.
 *
 * The new index is built from the rows, never from what the old one holds. As long as the old one is not cleaned up it is kept
 * up, so that it is possible to go back.
 *
 * @throws {UnknownIndexError} for an index that the model does not have.
 * @throws {InvalidArgumentError} for indexes that differ in more than what their entries hold, and for a step that cannot
 * follow what has been done; it says which can.
 * @throws {StaleSchemaError} where the database has something that this program does not know.
 * @throws {LeaseLostError} where another runner has taken over.
 */
export async function runReplaceStep(
  context: TableContext,
  { from, to, step }: IndexReplacement,
  run: MigrationRun,
): Promise<ReplacedIndex> {
  const { model, catalog } = context;
  const pair = { from: indexNamed(model, from), to: indexNamed(model, to) };
  if (from === to) throw new InvalidArgumentError(model.name, "to", "it is the same index");
  assertSameKeys(model, pair);
  await catalog.reload();
  const outcome = await doStep(context, pair, step, run);
  const states = statesOf(context, pair);
  const next = nextSteps(states);
  return { model: model.name, from, to, step, ...outcome, states, next };
}

type Outcome = Pick<ReplacedIndex, "status" | "staleCopies">;

async function doStep(
  context: TableContext,
  pair: Pair,
  step: ReplaceStep,
  run: MigrationRun,
): Promise<Outcome> {
  switch (step) {
    case "backfill":
      return await buildNew(context, pair, run);
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
        "it has to be backfill, switch, back or clean-up",
      );
  }
}

/** Builds the new index, and looks how far the copies of the old one can be trusted. */
async function buildNew(context: TableContext, pair: Pair, run: MigrationRun): Promise<Outcome> {
  assertStep(context, pair, "backfill");
  // Other indexes may wait for it, and would be built of rows that are still to change.
  if (context.catalog.snapshot.entry.transform !== undefined) {
    const reason = "a change of all rows is under way: migrate first";
    throw new InvalidArgumentError(context.model.name, "step", reason);
  }
  if (context.catalog.snapshot.stateOf(pair.to) === "dropping") {
    if (!(await dropIndexes(context, run))) return { status: "stopped" };
  }
  // One that was replaced itself is to be built again, and so are its counters.
  await change(context, run, (entry) => {
    const stored = storedUnder(entry, pair.to);
    if (stored?.replacedBy === undefined || stored.state !== "absent") return undefined;
    return withoutCounter(withIndex(entry, pair.to, stored.state), pair.to);
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

/** From one commit on reads use the new index. */
async function switchOver(context: TableContext, pair: Pair, run: MigrationRun): Promise<Outcome> {
  let status: Outcome["status"] = "done";
  await change(context, run, (entry) => {
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

/** From one commit on reads use the old index again; the new one stays as it is. */
async function goBack(context: TableContext, pair: Pair, run: MigrationRun): Promise<Outcome> {
  await change(context, run, (entry) => {
    assertStep(context, pair, "back");
    const isDisabled = statesOf(context, pair).from === "disabled";
    return isDisabled ? withIndex(entry, pair.from, "readable") : undefined;
  });
  return { status: "done" };
}

/** Removes the entries of the old index. From the first commit on there is no way back. */
async function cleanUp(context: TableContext, pair: Pair, run: MigrationRun): Promise<Outcome> {
  let isReady = true;
  await change(context, run, (entry) => {
    assertStep(context, pair, "clean-up");
    const { from, to } = statesOf(context, pair);
    isReady = from !== "disabled" || to === "readable";
    if (from !== "disabled" || !isReady) return undefined;
    const dropping = withIndex(entry, pair.from, "dropping", pair.to.name);
    const { counters } = entry;
    if (counters === undefined || !Object.hasOwn(counters, pair.from.name)) return dropping;
    return { ...dropping, counters: { ...counters, [pair.from.name]: "dropping" } };
  });
  if (!isReady) return { status: "not-ready" };
  if (statesOf(context, pair).from !== "dropping") return { status: "done" };
  const isDone = await dropIndexes(context, run);
  await context.catalog.reload();
  return { status: isDone ? "done" : "stopped" };
}

/**
 * Changes the catalog by one commit, however it is by then.
 *
 * @param changed what it is to be; undefined where it is to stay.
 */
async function change(
  { kv, catalog }: TableContext,
  run: MigrationRun,
  changed: (entry: CatalogEntry) => CatalogEntry | undefined,
): Promise<void> {
  for (;;) {
    const { snapshot } = catalog;
    snapshot.assertWritable();
    const entry = changed(snapshot.entry);
    if (entry === undefined) return;
    const operation = kv.atomic().check(snapshot.check).set(snapshot.check.key, entry);
    const { ok } = await run.lease.commit(operation);
    await catalog.reload();
    if (ok) return;
  }
}

function storedUnder({ indexes }: CatalogEntry, { name }: CompiledIndex): StoredIndex | undefined {
  return Object.hasOwn(indexes, name) ? indexes[name] : undefined;
}

/** A catalog entry that knows nothing of an index's counters. */
function withoutCounter(entry: CatalogEntry, { name }: CompiledIndex): CatalogEntry {
  const { counters, ...rest } = entry;
  if (counters === undefined) return entry;
  const left = Object.entries(counters).filter(([counter]) => counter !== name);
  return left.length === 0 ? rest : { ...rest, counters: Object.fromEntries(left) };
}

/** A catalog entry in which an index has another state, and what it says of a replacement is this. */
function withIndex(
  entry: CatalogEntry,
  compiled: CompiledIndex,
  state: IndexState,
  replacedBy?: string,
): CatalogEntry {
  const stored = storedUnder(entry, compiled);
  if (stored === undefined) return entry;
  const { replacedBy: _, ...described } = stored;
  const index: StoredIndex = {
    ...described,
    state,
    ...(replacedBy !== undefined && { replacedBy }),
  };
  return { ...entry, indexes: { ...entry.indexes, [compiled.name]: index } };
}

/**
 * An index stands in for another only where it finds the same rows by the same keys.
 *
 * @throws {InvalidArgumentError} where the two differ in something else than what their entries hold.
 */
function assertSameKeys(model: CompiledModel, { from, to }: Pair): void {
  const [old, now] = [aspectsOf(from), aspectsOf(to)];
  const differing = Object.keys(old).filter(
    (aspect) => hashOf(old[aspect]) !== hashOf(now[aspect]),
  );
  if (differing.length === 0) return;
  const reason = `${to.name} finds other rows than ${from.name}: they differ in ${differing.join(", ")}`;
  throw new InvalidArgumentError(model.name, "to", reason);
}

/** What decides which keys a row has in an index, by what people call it. */
function aspectsOf(index: CompiledIndex): Readonly<Record<string, unknown>> {
  const { fields, unique, normalized, functions = null, traits = {} } = indexManifest(index);
  const { descending = null, each = null, partial = false, computed = false } = traits;
  return {
    key: [fields, descending, computed],
    each,
    unique,
    normalize: traits.normalized ?? normalized,
    where: partial,
    "the code of their functions, or its version": functions,
  };
}

/** @throws {InvalidArgumentError} where a step cannot follow what has been done. */
function assertStep(context: TableContext, pair: Pair, step: ReplaceStep): void {
  const { model, catalog } = context;
  const states = statesOf(context, pair);
  const replacedBy = storedUnder(catalog.snapshot.entry, pair.from)?.replacedBy;
  if (replacedBy !== undefined && replacedBy !== pair.to.name && step !== "back") {
    const reason = `${pair.from.name} has been replaced by ${replacedBy}`;
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
        ? "migrate builds it"
        : "it has been replaced: to have it again, let it replace the other one";
  const reason = `${pair.from.name} is ${states.from}, ${pair.to.name} is ${states.to}: ${advice}`;
  throw new InvalidArgumentError(model.name, "step", reason);
}

/** The steps that may follow. */
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

function indexNamed(model: CompiledModel, name: string): CompiledIndex {
  const index = model.indexes.find((candidate) => candidate.name === name);
  if (index !== undefined) return index;
  throw new UnknownIndexError(
    model.name,
    name,
    model.indexes.map((known) => known.name),
  );
}
