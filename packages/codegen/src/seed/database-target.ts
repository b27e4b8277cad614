import type { KvLike } from "@keywright/core";
import type { AnyDatabase } from "@keywright/orm";
import type { AnyRow } from "./seed-model.js";
import type { SeedTarget, Written } from "./seed-rows.js";

/** How many existing rows are read, to which new ones can refer. */
const maxExisting = 1000;

interface AnyRepository {
  createMany(options: {
    readonly data: readonly AnyRow[];
  }): Promise<{ readonly results: readonly Written[] }>;
  scan(options: { readonly take: number }): Promise<{ readonly items: readonly AnyRow[] }>;
}

export function repositoryOf(database: AnyDatabase, property: string): AnyRepository {
  return (database as Readonly<Record<string, AnyRepository>>)[property]!;
}

/**
 * Returns the database as a target of generated rows.
 *
 * @param isDryRun true to read from it and to write nothing.
 */
export function databaseTarget(
  { database, kv }: { readonly database: AnyDatabase; readonly kv: KvLike },
  isDryRun: boolean,
  onProgress: SeedTarget["onProgress"],
): SeedTarget {
  return {
    write: async ({ property }, rows) => {
      if (isDryRun) return rows.map(({ row }) => ({ ok: true, row }));
      const data = rows.map(({ input }) => input);
      return (await repositoryOf(database, property).createMany({ data })).results;
    },
    existing: async ({ model, property }) => {
      const { items } = await repositoryOf(database, property).scan({ take: maxExisting });
      return { rows: items, lastNumber: await lastNumber(kv, model.place) };
    },
    onProgress,
  };
}

/** Returns the last primary key of a model, or 0 if it is not a number. */
async function lastNumber(kv: KvLike, place: string): Promise<number> {
  for await (const { key } of kv.list({ prefix: [place] }, { limit: 1, reverse: true })) {
    const id = Number(key[1]);
    return key.length === 2 && typeof key[1] !== "string" && Number.isSafeInteger(id) ? id : 0;
  }
  return 0;
}
