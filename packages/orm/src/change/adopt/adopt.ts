import type { Database, Models } from "../../database/database.js";
import type { RowId } from "../../errors/orm-error.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import type { CreateInput, Model } from "../../model/model.js";
import { assertArgument, is } from "../../model/shape.js";
import { type AnyDatabase, tableContexts } from "../../state/context/any-database.js";
import type { TableContext } from "../../state/context/table-context.js";
import { takeLease } from "../../state/run/lease.js";
import type { AdoptedModel, AdoptProgress, AdoptResult } from "./adopt-result.js";
import { type AdoptRun, adoptRun } from "./adopt-run.js";
import {
  type AdoptRecord,
  type AdoptState,
  firstRecord,
  maxReports,
  reportKey,
  stateKey,
  storedRecord,
} from "./adopt-state.js";
import { forgetFailedKeys } from "./failed-keys.js";
import { ModelAdoption, type ModelSource } from "./model-adoption.js";
import type { SourceKv, SourceLayout } from "./source/source-layout.js";
import { isInPlace, isSameDatabase } from "./source/source-place.js";
import { sourceReader } from "./source/source-reader.js";

/** The source of one model: its layout, and how its documents become rows of `M`. */
export interface AdoptedFrom<M extends Model> {
  readonly layout: SourceLayout;
  /**
   * Maps a document to the input of `create`. It may declare parameters of any type. The same
   * document has to give the same row each time. If the primary key is absent from the result, it
   * is set to the id. Without `map`, the document is used as it is.
   */
  map?(value: unknown, id: RowId): CreateInput<M> | Promise<CreateInput<M>>;
}

/** The options of `adopt` for models `M`. */
export interface AdoptOptions<M extends Models> {
  /** The database to read. Nothing is written there. It may be the same database. */
  readonly from: SourceKv;
  /** The sources of the models, by the names that the program uses for the models. */
  readonly models: {
    readonly [K in keyof M]?: SourceLayout | AdoptedFrom<M[K]>;
  };
  /** Called after each batch. */
  readonly onProgress?: (progress: AdoptProgress) => void;
  /** Stops the run after the current batch. The next run resumes there. */
  readonly signal?: AbortSignal;
  /** The maximum number of documents and entries to read per second. Unlimited by default. */
  readonly rowsPerSecond?: number;
  /**
   * Writes nothing, and reports what would become of the documents. Violations of unique indexes
   * and references to missing rows are not detected, because only a write detects them.
   */
  readonly dryRun?: boolean;
  /**
   * Creates the rows of documents again that an earlier run has adopted, and that have been deleted
   * since. False by default.
   */
  readonly restoreDeleted?: boolean;
  /** Waits while another runner is at work. True by default. If false, the result is `"busy"`. */
  readonly wait?: boolean;
}

/**
 * Copies data that was written by hand, by kvdex or by pentagon into the models of a database.
 * Reports which index entries of the source are broken.
 *
 * ```ts
 * const result = await adopt(db, {
 *   from: await openKv("./old"),
 *   models: {
 *     users: kvdexLayout({ version: 4, collection: "users", indices: { email: "primary" } }),
 *     posts: {
 *       layout: pentagonLayout({ table: "posts" }),
 *       map: (post: OldPost) => ({ ...post, title: post.headline }),
 *     },
 *   },
 * });
 * ```
 *
 * Each document becomes a row as with `create`, but without hooks. An existing row is never
 * overwritten. It is skipped if it is the same, except for fields that the schema fills in. If the
 * source reports when a document expires, the row expires at the same time. A run that was stopped
 * or killed is resumed by the next call. If the source is the same database and its documents are
 * the model's own rows, they and their entries are only checked.
 *
 * Documents that did not become rows are returned in `failed`. After the source or `map` is
 * corrected, the next run tries them again. It does not read other documents, because their rows
 * belong to the program by then, which may have changed or deleted them. Documents that were added
 * to the source later are adopted by a run after one that returned `"done"`, because that run
 * starts from the beginning. A run also starts from the beginning if the first adopted document has
 * changed, because that document identifies the source. Each row is adopted only once: for each
 * row, a mark stays in the database, so that a later run does not create a row again that the
 * program has deleted. `restoreDeleted` creates such rows again.
 *
 * @throws {InvalidArgumentError} if the options are not valid, if the layout cannot read the
 * documents, or if a model would write where the source has its data.
 * @throws {StaleSchemaError} if the database has indexes that this program does not know.
 * @throws {LeaseLostError} if another runner has taken over.
 */
export async function adopt<M extends Models>(
  database: Database<M>,
  options: AdoptOptions<NoInfer<M>>,
): Promise<AdoptResult> {
  const { from, signal, dryRun = false, wait = true } = options;
  const adoptions = sortByReferences(adoptionsOf(database, options));
  const [target] = adoptions.keys();
  if (target === undefined) return { status: "done", models: [] };
  if (dryRun) return await adoptAll(from, adoptions, adoptRun(undefined, options));
  const lease = await takeLease(target.kv, { wait, signal });
  if (typeof lease === "string") return { status: lease, models: [] };
  try {
    return await adoptAll(from, adoptions, adoptRun(lease, options));
  } finally {
    await lease.release();
  }
}

interface AnyAdoption {
  readonly layout: SourceLayout;
  readonly map?: ModelSource["map"];
}

interface AnyAdoptOptions {
  readonly from: SourceKv;
  /** By the names of the repositories. */
  readonly models: Readonly<Record<string, AnyAdoption | SourceLayout | undefined>>;
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
    context.catalog.snapshot.assertSameKey();
    const wasStopped = models.some(({ status }) => status !== "done");
    models.push(
      wasStopped
        ? modelResult(name, "todo", firstRecord(source.layout))
        : await adoptModel(context, source, run),
    );
  }
  if (models.some(({ status }) => status !== "done")) return { status: "stopped", models };
  const hasFailed = models.some(({ failedCount }) => failedCount > 0);
  for (const context of sources.keys())
    await (hasFailed ? endAdoption : forgetAdoption)(context, run);
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
        "the documents already are the rows of the model; change them with a migration, or adopt into another database";
      throw new InvalidArgumentError(name, `models.${name}.map`, reason);
    }
    sources.set(context, { reader, layout, map, inPlace });
  }
  return sources;
}

/** Stores that a run has ended with failed documents, which the next run tries again. */
async function endAdoption(context: TableContext, run: AdoptRun): Promise<void> {
  const { kv, model } = context;
  if (run.dryRun) return;
  const { value: state } = await kv.get<AdoptState>(stateKey(model));
  if (state === null) return;
  await forgetFailedKeys(context, run, state.pass);
  await run.commit((operation) => operation.set(stateKey(model), { ...state, stage: "ended" }));
}

async function forgetAdoption(context: TableContext, run: AdoptRun): Promise<void> {
  const { model } = context;
  await forgetFailedKeys(context, run);
  await run.commit((operation) => {
    operation.delete(stateKey(model));
    for (let i = 0; i < maxReports; i++) {
      operation.delete(reportKey(model, "failed", i)).delete(reportKey(model, "broken", i));
    }
  });
}

const openDatabase = is<SourceKv>(
  (value) => typeof (value as SourceKv | undefined)?.getMany === "function",
  "a database that openKv or Deno.openKv has opened",
);

function adoptionsOf(
  database: AnyDatabase,
  { from, models }: AnyAdoptOptions,
): ReadonlyMap<TableContext, AnyAdoption> {
  const tables = tablesByName(database);
  assertArgument("", "from", from, openDatabase, "adopt");
  const adoptions = new Map<TableContext, AnyAdoption>();
  for (const [name, source] of Object.entries(models)) {
    if (source === undefined) continue;
    const context = tables.get(name);
    if (context === undefined) {
      throw new InvalidArgumentError(name, `models.${name}`, "the database has no such model");
    }
    if (context.transaction !== undefined) {
      throw new InvalidArgumentError(name, "db", "it must be the database, not a transaction");
    }
    adoptions.set(context, "layout" in source ? source : { layout: source });
  }
  return adoptions;
}

/** Sorts models after those that they refer to. In a cycle they keep their order. */
function sortByReferences(
  adoptions: ReadonlyMap<TableContext, AnyAdoption>,
): ReadonlyMap<TableContext, AnyAdoption> {
  const ordered = new Map<TableContext, AnyAdoption>();
  const visited = new Set<TableContext>();
  const visit = (context: TableContext): void => {
    if (visited.has(context)) return;
    visited.add(context);
    for (const { relation, target } of context.links.relations.values()) {
      const other = context.tables.get(target.name);
      if (relation.kind === "belongsTo" && other !== undefined) visit(other);
    }
    const adoption = adoptions.get(context);
    if (adoption !== undefined) ordered.set(context, adoption);
  };
  for (const context of adoptions.keys()) visit(context);
  return ordered;
}

/** The properties of a database are in the order of its models. */
function tablesByName(database: AnyDatabase): ReadonlyMap<string, TableContext> {
  const names = Object.keys(database).filter((name) => name !== "transaction");
  const contexts = [...tableContexts(database).values()];
  const tables = new Map<string, TableContext>();
  for (const [i, context] of contexts.entries())
    tables.set(names[i] ?? context.model.name, context);
  return tables;
}

/**
 * Adopts the documents of one model in batches, then checks the index entries of the source. The
 * progress is stored in the commit of the rows, so that a run that was stopped or killed resumes
 * there.
 */
async function adoptModel(
  context: TableContext,
  source: ModelSource,
  run: AdoptRun,
): Promise<AdoptedModel> {
  const { model } = context;
  const stored = run.dryRun
    ? undefined
    : await storedRecord(context.kv, model, source.layout, source.reader);
  const record = stored ?? firstRecord(source.layout);
  // What an adoption from another source has stored does not apply here. `begin` replaces it.
  const adoption = new ModelAdoption(context, source, run, record);
  if (stored === undefined) await adoption.begin();
  else if (stored.state.stage === "ended") await adoption.retry();
  while (adoption.record.state.stage !== "done") {
    if (run.signal?.aborted) return modelResult(model.name, "stopped", adoption.record);
    if (adoption.record.state.stage === "rows") await adoption.nextDocuments();
    else await adoption.nextEntries();
  }
  return modelResult(model.name, "done", adoption.record);
}

function modelResult(
  model: string,
  status: AdoptedModel["status"],
  { state, failed, brokenEntries }: AdoptRecord,
): AdoptedModel {
  const { rows, adopted, skipped, deleted, failedCount, brokenCount } = state;
  return {
    model,
    status,
    rows,
    adopted,
    skipped,
    deleted,
    failedCount,
    failed,
    brokenCount,
    brokenEntries,
    leftBehind: Object.entries(state.leftBehind).map(([kind, count]) => ({ kind, count })),
  };
}
