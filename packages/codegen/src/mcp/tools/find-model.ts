import { InvalidArgumentError } from "@keywright/orm";
import type { OpenDatabase, OpenModel } from "../source/open-database.js";

/** The methods of a repository for any model. They check what a client sends. */
export interface AnyRepository {
  findMany(
    query: object,
  ): PromiseLike<{ readonly items: readonly unknown[]; readonly cursor: unknown }>;
  scan(
    query: object,
  ): PromiseLike<{ readonly items: readonly unknown[]; readonly cursor: unknown }>;
  count(query: object): Promise<number>;
  explain(query: object): Promise<object>;
  create(options: object): Promise<unknown>;
  update(options: object): Promise<unknown>;
  delete(options: object): Promise<unknown>;
}

/**
 * Returns a model by its name in the program, or by the name that its rows are stored under.
 *
 * @throws {InvalidArgumentError} if there is no such model.
 */
export function findModel(
  { database, models }: OpenDatabase,
  name: string,
): OpenModel & { readonly repository: AnyRepository } {
  const found =
    models.find(({ property }) => property === name) ??
    models.find(({ model }) => model.name === name);
  if (found === undefined) {
    const known = models.map(({ property }) => property).join(", ");
    throw new InvalidArgumentError(
      "",
      "model",
      `there is no model ${name}; the models are ${known}`,
    );
  }
  const repositories = database as unknown as Readonly<Record<string, AnyRepository>>;
  return { ...found, repository: repositories[found.property]! };
}
