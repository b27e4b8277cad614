import { docComment } from "../schema/doc-comment.js";
import { describeOrigin } from "./found-model.js";
import { importedModel } from "./model-file.js";
import type { NamedModel } from "./model-names.js";
import { NameClaims } from "./name-claims.js";
import { importSpecifier } from "./paths.js";

const openDescription = `
Opens the models on a key-value database: one that \`openKv\` opened, or a Deno KV. An index that is new to a database with rows is built by \`migrate\`.

@throws {ModelDefinitionError} where two models or indexes would store their entries in the same place.
@throws {IndexChangedError} where the database has an index of another definition under the same name.
`;

/**
 * Writes the index of the generated files: it exports them all again, and opens all repositories at once.
 *
 * @param folder of the generated files.
 * @param typesOf the names of the types that a model's file exports.
 * @throws {NameCollisionError} where two of the files export the same name.
 */
export function indexFile(
  models: readonly NamedModel[],
  folder: string,
  typesOf: (model: NamedModel) => readonly string[],
): string {
  const modelImports = models.map(({ modulePath, exportName, names }) => {
    const specifier = JSON.stringify(importSpecifier(folder, modulePath));
    return `import ${importedModel(exportName, names.model)} from ${specifier};`;
  });
  const repositoryImports = models.map(
    ({ names }) => `import { ${names.repository} } from "./${names.file}.js";`,
  );
  const claims = new NameClaims();
  const exports = models.map((model) => {
    for (const type of typesOf(model)) claims.claim(type, describeOrigin(model));
    const types = typesOf(model).map((name) => ({ name, text: `type ${name}` }));
    const { repository, file } = model.names;
    const exported = [...types, { name: repository, text: repository }].sort(byName);
    return `export { ${exported.map(({ text }) => text).join(", ")} } from "./${file}.js";`;
  });
  const opened = models.map(({ names }) => `${names.property}: ${names.model}`);
  const repositories = models.map(
    ({ names }) => `${names.property}: new ${names.repository}(database)`,
  );
  return `
import type { Kv } from "@keywright/core";
import { type AnyDatabase, createDatabase } from "@keywright/orm";
${[...modelImports, ...repositoryImports].join("\n")}

${exports.join("\n")}

/** A repository for each model, and the database behind them, which \`migrate\` takes. */
export interface Repositories {
  readonly database: AnyDatabase;
${models.map(({ names }) => `readonly ${names.property}: ${names.repository};`).join("\n")}
}

${docComment(openDescription)}export async function openRepositories(kv: Kv): Promise<Repositories> {
  const database = await createDatabase({ kv, models: { ${opened.join(", ")} } });
  return {
    database,
${repositories.join(",\n")},
  };
}
`;
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
