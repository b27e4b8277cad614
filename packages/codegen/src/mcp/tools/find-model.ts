import { InvalidArgumentError } from "@keywright/orm";
import { nearestName } from "@keywright/orm/codegen";
import type { OpenDatabase, OpenModel } from "../source/open-database.js";

/** A page of rows, or of what was found. */
export interface AnyPage {
  readonly items: readonly unknown[];
  readonly cursor: unknown;
}

/** The methods of a repository for any model. They check what a client sends. */
export interface AnyRepository {
  findMany(query: object): PromiseLike<AnyPage>;
  scan(query: object): PromiseLike<AnyPage>;
  search(
    query: object,
  ): PromiseLike<AnyPage & { readonly count: number; readonly ignored: unknown }>;
  count(query: object): Promise<number>;
  explain(query: object): Promise<object>;
  explainSearch(query: object): Promise<object>;
  create(options: object): Promise<unknown>;
  update(options: object): Promise<unknown>;
  delete(options: object): Promise<unknown>;
}

/** A model and its repository. */
export interface FoundModel extends OpenModel {
  readonly repository: AnyRepository;
}

/** How many models an error names. */
const maxNames = 40;

/**
 * Returns a model by its name in the program, or by the name that its rows are stored under.
 *
 * @throws {InvalidArgumentError} if there is no such model.
 */
export function findModel({ database, models }: OpenDatabase, name: string): FoundModel {
  const found =
    models.find(({ property }) => property === name) ??
    models.find(({ model }) => model.name === name);
  if (found === undefined) {
    const reason = `there is no model ${name}; ${adviceFor(
      name,
      models.map(({ property }) => property),
    )}`;
    throw new InvalidArgumentError("", "model", reason);
  }
  const repositories = database as unknown as Readonly<Record<string, AnyRepository>>;
  return { ...found, repository: repositories[found.property]! };
}

function adviceFor(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  if (nearest !== undefined) return `did you mean ${nearest}?`;
  const listed = known.slice(0, maxNames).join(", ");
  const rest = known.length - maxNames;
  if (known.length === 0) return "the project has no models";
  return `the models are ${listed}${rest > 0 ? ` and ${rest} more, which the tool models lists` : ""}`;
}
