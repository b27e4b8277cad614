import {
  generatedSpecifier,
  type ImportExtension,
  importSpecifier,
} from "../project/files/paths.js";
import { describeOrigin } from "../project/models/found-model.js";
import { importedModel, type NamedModel } from "../project/models/model-names.js";
import { NameClaims } from "../project/models/name-claims.js";
import { docComment } from "../types/doc-comment.js";
import { runtimeModule } from "./model-file.js";

const openDescription = `
Opens the models on a key-value database that \`openKv\` or \`Deno.openKv\` has opened. If the database already has rows, \`migrate\` builds new indexes.

@param options the options of \`createDatabase\`, such as \`migrations\`, \`hooks\` and \`jobs\`.

@throws {ModelDefinitionError} if two models or indexes would store their entries in the same place.
@throws {IndexChangedError} if the database has an index with the same name and another definition.
`;

const transactionDescription = `
Runs a function as one transaction. All its writes are one commit. If another commit changes data that the function has read, the function runs again. If it throws, nothing is written.

@throws {TransactionConflictError} after \`maxAttempts\` attempts.
`;

const snapshotDescription = `
Runs a function whose reads all see one state of the database: that at the call. The repositories have only the methods that read once.

@throws {IsolationUnavailableError} if the database has no such state, as Deno KV.
@throws {SnapshotEndedError} from reads after the end, and if the database no longer has the state.
`;

const atDescription = `
Runs a function whose reads see the database as it was at a versionstamp or a time. The database must keep a log. The repositories have only the methods that read once.

@throws {LogOffError} if the database keeps no log.
@throws {LogTruncatedError} if the log does not reach back to the moment.
@throws {PastLimitError} if more than \`maxChanges\` entries were changed since.
@throws {PastUnreadableError} if a migration has moved rows or indexes since.
`;

const consumeDescription = `
Calls a handler for each commit of the log that has changed rows, in the order of the commits and at least once, in one process at a time. The database keeps the position of the consumer under its name. The writes of \`transaction\` of a delivery happen exactly once.

@throws {LogOffError} if the database keeps no log.
@throws {LogTruncatedError} if the log no longer has the commits after the position.
@throws {ConsumerLostError} if the consumer was removed.
`;

const repositoriesDescription = `
Returns the repositories of a database that \`openRepositories\` or \`createDatabase\` has opened with these models, or of the \`tx\` of its \`transaction\`.

@throws {ModelDefinitionError} if the database was opened without one of the models.
`;

const scopedDescription = `
Returns the repositories of the models that have the fields of a scope. All that they read and write has the values of the scope: \`scopedRepositories(database.scope({ tenantId }))\`. Their methods take these values too, and refuse any other.

@param scope what \`scope\` of \`database\` or of \`tx.database\` returned, or the \`tx\` of its \`transaction\`.
@throws {ScopeError} in each call with another value of the scope.
`;

/**
 * Returns the text of `index.ts`. It re-exports all generated files and opens all repositories at
 * once.
 *
 * @param folder the folder of the generated files.
 * @param typesOf returns the names of the types that a model's file exports.
 * @param extension the extension of imported modules.
 * @throws {NameCollisionError} if two of the files export the same name.
 */
export function indexFile(
  models: readonly NamedModel[],
  folder: string,
  typesOf: (model: NamedModel) => readonly string[],
  extension: ImportExtension = "js",
): string {
  const modelImports = models.map(({ modulePath, exportName, names }) => {
    const specifier = JSON.stringify(importSpecifier(folder, modulePath, extension));
    return `import ${importedModel(exportName, names.model)} from ${specifier};`;
  });
  const repositoryImports = models.map(
    ({ names }) =>
      `import { ${names.repository}, type ${names.row} } from "${generatedSpecifier(names.file, extension)}";`,
  );
  const claims = new NameClaims();
  const exports = models.map((model) => {
    for (const type of typesOf(model)) claims.claim(type, describeOrigin(model));
    const types = typesOf(model).map((name) => ({ name, text: `type ${name}` }));
    const { repository, file } = model.names;
    const exported = [...types, { name: repository, text: repository }].sort(byName);
    return `export { ${exported.map(({ text }) => text).join(", ")} } from "${generatedSpecifier(file, extension)}";`;
  });
  const opened = models.map(({ names }) => `${names.property}: ${names.model}`);
  const repositories = models.map(
    // If the compiler had to infer the type of the rows, it would compare all methods.
    ({ names }) => `${names.property}: new ${names.repository}<${names.row}>(database)`,
  );
  const changes = models.map(
    ({ names, model }) =>
      `| ModelChange<${JSON.stringify(names.property)}, ${names.row}, ${model.primaryKey.map((field) => JSON.stringify(field)).join(" | ")}>`,
  );
  const classes = models.map(({ names }) => `${names.property}: ${names.repository}`);
  return `
import type { Kv } from "@keywright/core";
import type { AnyDatabase, AnyJobs, Database, DatabaseOptions, JobsOf, SnapshotView, TransactionDatabase, TransactionJobs } from "@keywright/orm";
import { type ChangeConsumeOptions, type ChangeDelivery, consumeThrough, jobsThrough, type ModelChange, openModels, type ReadsOf, readsOf, repositoriesWithin, withJobsOf } from "${runtimeModule}";
${[...modelImports, ...repositoryImports].join("\n")}

${exports.join("\n")}

/** A repository for each model. */
export interface Repositories {
${models.map(({ names }) => `readonly ${names.property}: ${names.repository};`).join("\n")}
}

/** The models by the names of their repositories. */
export type Models = {
${models.map(({ names }) => `readonly ${names.property}: typeof ${names.model};`).join("\n")}
};

/** Options for opening the models, such as \`migrations\`, \`hooks\` and \`jobs\`. */
export type OpenOptions<Jobs extends AnyJobs | undefined = undefined> = DatabaseOptions<Models, Jobs>;

/** The repositories of a transaction, and its \`jobs\` if the database has jobs. */
export type TransactionRepositories<Jobs extends AnyJobs | undefined = undefined> = Repositories & TransactionJobs<Jobs> & {
  /** The same transaction with all queries and writes, as those of \`database\` outside of it. */
  readonly database: TransactionDatabase<Models, Jobs>;
};

/** The repositories of a snapshot, without the methods that write or watch. */
export interface SnapshotRepositories extends ReadsOf<Repositories> {
  /** The same snapshot with all queries. */
  readonly database: SnapshotView<Models>;
}

/** A change of a row in the log, of any model. */
export type RowChanges =
${changes.join("\n")};

/**
 * The repositories, their database, its transactions and its snapshots, and its \`jobs\` and \`work\`
 * if it has jobs.
 */
export type OpenRepositories<Jobs extends AnyJobs | undefined = undefined> = OpenModels<Jobs> & JobsOf<Jobs, TransactionRepositories<Jobs>>;

interface OpenModels<Jobs extends AnyJobs | undefined> extends Repositories {
  /** The database, for example for \`migrate\`. Its own repositories have all queries and writes. */
  readonly database: Database<Models, Jobs>;
  ${docComment(transactionDescription, 2)}transaction<T>(
    body: (tx: TransactionRepositories<Jobs>) => Promise<T>,
    options?: Parameters<Database<Models>["transaction"]>[1],
  ): Promise<T>;
  ${docComment(snapshotDescription, 2)}snapshot<T>(
    body: (view: SnapshotRepositories) => Promise<T>,
    options?: Parameters<Database<Models>["snapshot"]>[1],
  ): Promise<T>;
  ${docComment(atDescription, 2)}at<T>(
    moment: string | Date,
    body: (past: SnapshotRepositories) => Promise<T>,
    options?: Parameters<Database<Models>["at"]>[2],
  ): Promise<T>;
  ${docComment(consumeDescription, 2)}consume(
    name: string,
    handler: (delivery: ChangeDelivery<RowChanges, TransactionRepositories<Jobs>>) => Promise<void> | void,
    options?: ChangeConsumeOptions<RowChanges["model"]>,
  ): Promise<void>;
}

${docComment(openDescription)}export async function openRepositories<const Jobs extends AnyJobs | undefined = undefined>(
  kv: Kv,
  options: OpenOptions<Jobs> = {},
): Promise<OpenRepositories<Jobs>> {
  const database = await openModels<Models, Jobs>({ ...options, kv, models: { ${opened.join(", ")} } });
  const within = (tx: TransactionDatabase<Models, Jobs>): TransactionRepositories<Jobs> =>
    withJobsOf(options.jobs, tx, { ...repositoriesOf(tx), database: tx });
  const opened: OpenModels<Jobs> = {
    ...repositoriesOf(database),
    database,
    transaction: (body, limits) => database.transaction((tx) => body(within(tx)), limits),
    snapshot: (body, limits) =>
      database.snapshot((view) => body({ ...readsOf(repositoriesOf(view)), database: view }), limits),
    at: (moment, body, limits) =>
      database.at(moment, (past) => body({ ...readsOf(repositoriesOf(past)), database: past }), limits),
    consume: (name, handler, settings) => consumeThrough(database, name, handler, settings, within),
  };
  return jobsThrough(options.jobs, database, opened, within);
}

${docComment(repositoriesDescription)}export function repositoriesOf(database: AnyDatabase): Repositories {
  return { ${repositories.join(", ")} };
}

${docComment(scopedDescription)}export function scopedRepositories<Scope extends object>(
  scope: Scope,
): Pick<Repositories, keyof Repositories & keyof Scope> {
  return repositoriesWithin(scope, { ${classes.join(", ")} });
}
`;
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
