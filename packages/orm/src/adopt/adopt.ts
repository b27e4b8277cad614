import { type AnyDatabase, tableContexts } from "../context/any-database.js";
import type { TableContext } from "../context/table-context.js";
import type { Database, Models } from "../database/database.js";
import type { RowId } from "../errors/orm-error.js";
import { InvalidArgumentError } from "../errors/query-errors.js";
import { takeLease } from "../migrate/run/lease.js";
import type { CreateInput, Model } from "../model/model.js";
import { adoptModel, type ModelSource, modelResult } from "./adopt-model.js";
import type { AdoptedModel, AdoptProgress, AdoptResult } from "./adopt-result.js";
import { type AdoptRun, adoptRun } from "./adopt-run.js";
import { type AdoptState, firstRecord, reported, reportKey, stateKey } from "./adopt-state.js";
import { forgetFailedKeys } from "./failed-keys.js";
import type { SourceKv, SourceLayout } from "./source/source-layout.js";
import { isInPlace, isSameDatabase } from "./source/source-place.js";
import { sourceReader } from "./source/source-reader.js";

/** Model → what its rows are made of. */
export interface AdoptedFrom<M extends Model> {
  readonly layout: SourceLayout;
  /**
   * Makes of a document what `create` takes; it may have parameters of any type. The same document has to become the same row
   * each time. The id goes into the primary key where that is absent. Without it the document is taken as it is.
   */
  map?(value: unknown, id: RowId): CreateInput<M> | Promise<CreateInput<M>>;
}

/** Models → where each of them has its rows from. */
export interface AdoptOptions<M extends Models> {
  /** The database that is read. Nothing is written there; it may be the same one. */
  readonly from: SourceKv;
  /** By the names that the program has for the models. */
  readonly models: {
    readonly [K in keyof M]?: SourceLayout | AdoptedFrom<M[K]>;
  };
  /** Called after each batch. */
  readonly onProgress?: (progress: AdoptProgress) => void;
  /** Stops behind the batch in hand; the next run goes on there. */
  readonly signal?: AbortSignal;
  /** Documents and entries that are read in a second at the most; without it as many as possible. */
  readonly rowsPerSecond?: number;
  /** Writes nothing, and says what would become of the documents, as far as that shows without writing: not which unique
   * values two of them share, nor which refer to rows that are not there. */
  readonly dryRun?: boolean;
  /** Waits for another runner that works at the schema, which is so without it; with false the result is `"busy"`. */
  readonly wait?: boolean;
}

/**
 * Takes data that was written by hand, by kvdex or by pentagon into a database's models, and reports which of the source's index
 * entries are broken.
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
 * Each document becomes a row as by `create`, without hooks. A row that is there is never overwritten: it is skipped where it
 * is the same, but for what the schema fills in. Rows expire when their documents do, where the source tells that. A run
 * that was stopped or killed goes on where it was. Where a source is in the same database and its documents are the
 * model's own rows, they and their entries are only looked at.
 *
 * How it ended is data. Documents that did not become rows are in `failed`; when the source or `map` is put right, the
 * next run takes them. It looks at no others, for their rows are the program's by then, which may have changed or deleted
 * them: documents that came to the source since are taken by a run after one that was `"done"`, which begins anew. So does
 * one where the source's first adopted document has changed, for that tells it from other sources.
 *
 * @throws {InvalidArgumentError} for options that are not valid, documents that the layout cannot read, and a model that would
 * write where the source has its data.
 * @throws {StaleSchemaError} where the database has indexes that this program does not know.
 * @throws {LeaseLostError} where another runner has taken over.
 */
export async function adopt<M extends Models>(
  database: Database<M>,
  options: AdoptOptions<NoInfer<M>>,
): Promise<AdoptResult> {
  return await adoptModels(tablesByName(database), options);
}

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
async function adoptModels(
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

/** The tables by the names of their repositories, which stand in a database in the order of its models. */
function tablesByName(database: AnyDatabase): ReadonlyMap<string, TableContext> {
  const names = Object.keys(database).filter((name) => name !== "transaction");
  const contexts = [...tableContexts(database).values()];
  const tables = new Map<string, TableContext>();
  for (const [i, context] of contexts.entries())
    tables.set(names[i] ?? context.model.name, context);
  return tables;
}
