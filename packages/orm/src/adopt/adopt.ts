import type { RowId } from "../errors/orm-error.js";
import { InvalidArgumentError } from "../errors/query-errors.js";
import { takeLease } from "../migrate/lease.js";
import type { TableContext } from "../query/table-context.js";
import { adoptModel, type ModelSource, modelResult } from "./adopt-model.js";
import type { AdoptedModel, AdoptProgress, AdoptResult } from "./adopt-result.js";
import { type AdoptRun, adoptRun } from "./adopt-run.js";
import { type AdoptState, firstRecord, reported, reportKey, stateKey } from "./adopt-state.js";
import { forgetFailedKeys } from "./failed-keys.js";
import type { SourceKv, SourceLayout } from "./source-layout.js";
import { isInPlace, isSameDatabase } from "./source-place.js";
import { sourceReader } from "./source-reader.js";

/** What a model is adopted from, whatever the model. */
export interface AnyAdoption {
  readonly layout: SourceLayout;
  readonly map?: ((value: unknown, id: RowId) => unknown) | undefined;
}

/** How an adoption works, whatever its models. */
export interface AnyAdoptOptions {
  readonly from: SourceKv;
  /** By the names of the tables. */
  readonly models: Readonly<Record<string, AnyAdoption | SourceLayout | undefined>>;
  readonly onProgress?: ((progress: AdoptProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly rowsPerSecond?: number | undefined;
  readonly dryRun?: boolean | undefined;
  readonly wait?: boolean | undefined;
}

/**
 * Adopts the documents of a source into some models, one model after the other: those first to which others refer.
 *
 * @param tables all tables of the database, by the names by which the options ask for them.
 * @throws {InvalidArgumentError} for options that are not valid, and where a model would write among what is the source's.
 * @throws {LeaseLostError} where another runner has taken over.
 */
export async function adoptModels(
  tables: ReadonlyMap<string, TableContext>,
  options: AnyAdoptOptions,
): Promise<AdoptResult> {
  const { from, signal, onProgress, rowsPerSecond, dryRun = false, wait = true } = options;
  const adoptions = inOrder(adoptionsOf(tables, options));
  const [target] = adoptions.keys();
  if (target === undefined) return { status: "done", models: [] };
  const runOptions = { signal, onProgress, rowsPerSecond };
  if (dryRun) return await adoptAll(from, adoptions, adoptRun(undefined, runOptions));
  const lease = await takeLease(target.kv, { wait, signal });
  if (typeof lease === "string") return { status: lease, models: [] };
  try {
    return await adoptAll(from, adoptions, adoptRun(lease, runOptions));
  } finally {
    await lease.release();
  }
}

async function adoptAll(
  from: SourceKv,
  adoptions: ReadonlyMap<TableContext, AnyAdoption>,
  run: AdoptRun,
): Promise<AdoptResult> {
  const sources = await sourcesOf(from, adoptions, run);
  const models: AdoptedModel[] = [];
  for (const [context, source] of sources) {
    const { name } = context.model;
    await context.catalog.reload();
    const wasStopped = models.some(({ status }) => status !== "done");
    models.push(
      wasStopped
        ? modelResult(name, "todo", firstRecord(source.layout))
        : await adoptModel(context, source, run),
    );
  }
  if (models.some(({ status }) => status !== "done")) return { status: "stopped", models };
  const hasFailed = models.some(({ failedCount }) => failedCount > 0);
  for (const context of sources.keys()) await (hasFailed ? end : forget)(context, run);
  return { status: hasFailed ? "failed-rows" : "done", models };
}

async function sourcesOf(
  from: SourceKv,
  adoptions: ReadonlyMap<TableContext, AnyAdoption>,
  run: AdoptRun,
): Promise<ReadonlyMap<TableContext, ModelSource>> {
  const reader = sourceReader(from);
  const sources = new Map<TableContext, ModelSource>();
  let isSame: boolean | undefined;
  for (const [context, { layout, map }] of adoptions) {
    isSame ??= await isSameDatabase(context.kv, from, run);
    const models = [...context.tables.values()].map(({ model }) => model);
    const inPlace = isSame && isInPlace(context.model, models, layout);
    if (inPlace && map !== undefined) {
      const { name } = context.model;
      const reason =
        "the documents are the model's own rows already: change them by a migration, or adopt into another database";
      throw new InvalidArgumentError(name, `models.${name}.map`, reason);
    }
    sources.set(context, { reader, layout, map, inPlace });
  }
  return sources;
}

/** Writes down that a run has come to its end where documents of some model failed: the next one tries those. */
async function end(context: TableContext, run: AdoptRun): Promise<void> {
  const { kv, model } = context;
  if (run.dryRun) return;
  const { value: state } = await kv.get<AdoptState>(stateKey(model));
  if (state === null) return;
  await forgetFailedKeys(context, run, state.pass);
  await run.commit(() => kv.atomic().set(stateKey(model), { ...state, stage: "ended" }));
}

/** Forgets how far an adoption has come: all of it is done. */
async function forget(context: TableContext, run: AdoptRun): Promise<void> {
  const { kv, model } = context;
  await forgetFailedKeys(context, run);
  await run.commit(() => {
    const operation = kv.atomic().delete(stateKey(model));
    for (let i = 0; i < reported; i++) {
      operation.delete(reportKey(model, "failed", i)).delete(reportKey(model, "broken", i));
    }
    return operation;
  });
}

function adoptionsOf(
  tables: ReadonlyMap<string, TableContext>,
  { from, models }: AnyAdoptOptions,
): ReadonlyMap<TableContext, AnyAdoption> {
  if (typeof from?.getMany !== "function") {
    const reason = "it has to be a database: what openKv, or Deno.openKv, resolved to";
    throw new InvalidArgumentError("", "from", reason);
  }
  const adoptions = new Map<TableContext, AnyAdoption>();
  for (const [name, given] of Object.entries(models)) {
    if (given === undefined) continue;
    const context = tables.get(name);
    if (context === undefined) {
      throw new InvalidArgumentError(name, `models.${name}`, "there is no such model");
    }
    if (context.transaction !== undefined) {
      throw new InvalidArgumentError(name, "db", "it has to be the database, not a transaction");
    }
    adoptions.set(context, "layout" in given ? given : { layout: given });
  }
  return adoptions;
}

/** Models to whose rows others refer come before those. In a circle the order is the one given. */
function inOrder(
  adoptions: ReadonlyMap<TableContext, AnyAdoption>,
): ReadonlyMap<TableContext, AnyAdoption> {
  const ordered = new Map<TableContext, AnyAdoption>();
  const begun = new Set<TableContext>();
  const add = (context: TableContext): void => {
    if (begun.has(context)) return;
    begun.add(context);
    for (const { relation, target } of context.links.relations.values()) {
      const other = context.tables.get(target.name);
      if (relation.kind === "belongsTo" && other !== undefined) add(other);
    }
    const adoption = adoptions.get(context);
    if (adoption !== undefined) ordered.set(context, adoption);
  };
  for (const context of adoptions.keys()) add(context);
  return ordered;
}
