import { openKv } from "@keywright/core";
import { etcdEngine } from "@keywright/etcd";
import { lmdbEngine } from "@keywright/lmdb";
import { createDatabase, defineModel } from "@keywright/orm";
import { postgresEngine } from "@keywright/postgres";
import { sqliteEngine } from "@keywright/sqlite";
import * as z from "zod";

const Account = defineModel({
  name: "accounts",
  schema: z.object({ id: z.int(), balance: z.int() }),
  primaryKey: "id",
});

const open = {
  memory: () => openKv(),
  folder: ({ path }) => openKv(path),
  lmdb: async ({ path }) => openKv(await lmdbEngine({ path })),
  sqlite: async ({ path }) => openKv(await sqliteEngine({ path })),
  etcd: async ({ path, prefix }) =>
    openKv(await etcdEngine({ endpoints: path.split(","), prefix, deadline: 30_000 })),
  postgres: async ({ path, prefix }) =>
    openKv(await postgresEngine({ connectionString: path, prefix })),
};

/** Opens the database of a place, and creates its accounts if there are none. */
export async function openToBench(place, rows) {
  const kv = await open[place.kind](place);
  const db = await createDatabase({ kv, models: { accounts: Account } });
  const data = Array.from({ length: rows }, (_, id) => ({ id, balance: 0 }));
  await db.accounts.createMany({ data, skipDuplicates: true });
  return { kv, db };
}
