import { adoptModels } from "../adopt/adopt.js";
import type { AdoptProgress, AdoptResult } from "../adopt/adopt-result.js";
import type { SourceKv, SourceLayout } from "../adopt/source-layout.js";
import type { RowId } from "../errors/orm-error.js";
import type { CreateInput, Model } from "../model/model.js";
import type { TableContext } from "../query/table-context.js";
import { type AnyDatabase, type Database, type Models, tableContexts } from "./database.js";

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

/** The tables by the names of their repositories, which stand in a database in the order of its models. */
function tablesByName(database: AnyDatabase): ReadonlyMap<string, TableContext> {
  const names = Object.keys(database).filter((name) => name !== "transaction");
  const contexts = [...tableContexts(database).values()];
  const tables = new Map<string, TableContext>();
  for (const [i, context] of contexts.entries())
    tables.set(names[i] ?? context.model.name, context);
  return tables;
}
