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

@param options the options of \`createDatabase\`, such as \`migrations\` and \`hooks\`.

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
  const classes = models.map(({ names }) => `${names.property}: ${names.repository}`);
  return `
import type { Kv } from "@keywright/core";
import type { AnyDatabase, Database, DatabaseOptions, SnapshotView } from "@keywright/orm";
import { openModels, type ReadsOf, readsOf, repositoriesWithin } from "${runtimeModule}";
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

/** Options for opening the models, such as \`migrations\` and \`hooks\`. */
export type OpenOptions = DatabaseOptions<Models>;

/** The repositories of a transaction. */
export interface TransactionRepositories extends Repositories {
  /** The same transaction with all queries and writes, as those of \`database\` outside of it. */
  readonly database: Parameters<Parameters<Database<Models>["transaction"]>[0]>[0];
}

/** The repositories of a snapshot, without the methods that write or watch. */
export interface SnapshotRepositories extends ReadsOf<Repositories> {
  /** The same snapshot with all queries. */
  readonly database: SnapshotView<Models>;
}

/** The repositories, their database, its transactions and its snapshots. */
export interface OpenRepositories extends Repositories {
  /** The database, for example for \`migrate\`. Its own repositories have all queries and writes. */
  readonly database: Database<Models>;
  ${docComment(transactionDescription, 2)}transaction<T>(
    body: (tx: TransactionRepositories) => Promise<T>,
    options?: Parameters<Database<Models>["transaction"]>[1],
  ): Promise<T>;
  ${docComment(snapshotDescription, 2)}snapshot<T>(
    body: (view: SnapshotRepositories) => Promise<T>,
    options?: Parameters<Database<Models>["snapshot"]>[1],
  ): Promise<T>;
}

${docComment(openDescription)}export async function openRepositories(
  kv: Kv,
  options: OpenOptions = {},
): Promise<OpenRepositories> {
  const database = await openModels<Models>({ ...options, kv, models: { ${opened.join(", ")} } });
  return {
    ...repositoriesOf(database),
    database,
    transaction: (body, limits) =>
      database.transaction((tx) => body({ ...repositoriesOf(tx), database: tx }), limits),
    snapshot: (body, limits) =>
      database.snapshot((view) => body({ ...readsOf(repositoriesOf(view)), database: view }), limits),
  };
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
