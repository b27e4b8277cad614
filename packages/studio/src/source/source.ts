import type { CorruptionError, EmbeddedKv, KvLike } from "@keywright/core";
import {
  type AnyDatabase,
  createDatabase,
  type DatabaseOptions,
  type Model,
  type Models,
  type Page,
  type SearchPage,
} from "@keywright/orm";
import { type CompiledModel, compileModel } from "@keywright/orm/codegen";
import { PropertyError } from "./errors.js";
import { isCorruption } from "./known-damage.js";

interface SourceOptions {
  readonly kv: KvLike;
  readonly models?: Models;
  readonly migrations?: DatabaseOptions<Models>["migrations"];
  readonly title?: string;
  readonly readOnly?: boolean;
  readonly damage?: CorruptionError;
}

/** A model with its names and its repository. */
export interface SourceModel {
  readonly property: string;
  readonly model: CompiledModel;
  readonly repository: AnyRepository;
}

/** The methods of a repository for any model. The server passes on what the page asks for. */
export interface AnyRepository {
  findMany(query: object): Promise<Page<AnyVersioned>> & AsyncIterable<object>;
  findUnique(query: object): Promise<AnyVersioned | null>;
  count(query: object): Promise<number>;
  explain(query: object): Promise<AnyExplanation>;
  search(query: object): Promise<SearchPage<AnyVersioned>>;
  create(options: object): Promise<AnyVersioned>;
  update(options: object): Promise<AnyVersioned>;
  delete(options: object): Promise<unknown>;
  restore(options: object): Promise<AnyVersioned>;
  history(query: object): Promise<Page<AnyVersion>>;
  restoreRow(options: object): Promise<unknown>;
}

export interface AnyVersioned {
  readonly row: Readonly<Record<string, unknown>>;
  readonly versionstamp: string;
}

export interface AnyVersion {
  readonly versionstamp: string;
  readonly time: Date | null;
  readonly context: unknown;
  readonly row: AnyVersioned["row"] | null;
}

export interface AnyExplanation {
  readonly index: string;
  readonly kind: string;
  readonly segments: readonly {
    readonly prefix: readonly unknown[];
    readonly start?: readonly unknown[];
    readonly end?: readonly unknown[];
  }[];
  readonly reverse: boolean;
  readonly covered: boolean;
  readonly reads: number | undefined;
}

export interface Source {
  readonly title: string;
  readonly isReadOnly: boolean;
  readonly kv: KvLike;
  /** Set if the database was opened in spite of damaged files. */
  readonly damage: CorruptionError | undefined;
  /** Reports changes. Undefined if the database does not. */
  readonly watchRange: EmbeddedKv["watchRange"] | undefined;
  /** Undefined if there are no models. */
  readonly database: AnyDatabase | undefined;
  /** Sorted by property. */
  readonly models: readonly SourceModel[];
  readonly migrations: NonNullable<DatabaseOptions<Models>["migrations"]>;
}

export async function openSource(options: SourceOptions): Promise<Source> {
  const { kv, title = "Keywright", readOnly = false, migrations = [], damage } = options;
  const { watchRange } = kv as Partial<EmbeddedKv>;
  const database = await openModels(options);
  return {
    title,
    // An entry that is hidden by damage looks absent, so a write may repeat a unique value.
    isReadOnly: readOnly || damage !== undefined,
    kv,
    damage,
    watchRange: watchRange?.bind(kv as EmbeddedKv),
    database,
    models: database === undefined ? [] : sourceModels(database, options.models ?? {}),
    migrations,
  };
}

/** Returns undefined if there are no models, or if damage hides what the database knows of them. */
async function openModels(options: SourceOptions): Promise<AnyDatabase | undefined> {
  const { kv, models = {}, migrations = [], damage } = options;
  if (Object.keys(models).length === 0) return undefined;
  return await createDatabase({ kv, models, migrations }).catch((error: unknown) => {
    if (damage === undefined && !isCorruption(error)) throw error;
    return undefined;
  });
}

function sourceModels(database: AnyDatabase, models: Models): SourceModel[] {
  const repositories = database as unknown as Readonly<Record<string, AnyRepository>>;
  return Object.keys(models)
    .sort()
    .map((property) => ({
      property,
      model: compileModel(models[property] as Model),
      repository: repositories[property]!,
    }));
}

/** @throws {PropertyError} if there is no such model. */
export function modelOf({ models }: Source, property: string): SourceModel {
  const found = models.find((model) => model.property === property);
  if (found === undefined) throw new PropertyError(property);
  return found;
}

/** Returns the name in the program of a model that the database names. */
export function propertyOf({ models }: Source, name: string): string {
  return models.find(({ model }) => model.name === name)?.property ?? name;
}
