/**
 * A program that imports every package a server program uses, and prints `done`. It stores rows in
 * memory, in a folder and in files, and serves them. It also opens a file of SQLite, and says so,
 * if the runtime has SQLite. Nothing listens on the ports of etcd and PostgreSQL: the program
 * checks only that these packages get as far as connecting.
 */
export const program = `
import { isBuiltin } from "node:module";
import { openKv, EngineUnavailableError } from "@keywright/core";
import { etcdEngine } from "@keywright/etcd";
import { lmdbEngine } from "@keywright/lmdb";
import { createDatabase, defineModel } from "@keywright/orm";
import { postgresEngine } from "@keywright/postgres";
import { serve } from "@keywright/server";
import { sqliteEngine } from "@keywright/sqlite";
import * as z from "zod";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.ulid(), email: z.email() }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true } },
});

async function main(folder) {
  const opened = [
    openKv(),
    openKv(folder + "/level"),
    lmdbEngine({ path: folder + "/lmdb" }).then(openKv),
  ];
  const hasSqlite = isBuiltin("node:sqlite");
  if (hasSqlite) opened.push(sqliteEngine({ path: folder + "/app.sqlite" }).then(openKv));
  for (const opening of opened) {
    const kv = await opening;
    const db = await createDatabase({ kv, models: { users: User } });
    const { id } = await db.users.create({ data: { email: "ada@example.com" } });
    const found = await db.users.findUnique({ where: { email: "ada@example.com" } });
    if (found?.id !== id) throw new Error("the row is not found");
    const server = await serve(kv, { port: 0, tokens: ["a-token-of-at-least-16-characters"] });
    await server.close();
    await kv.close();
  }
  // Reads the files of a database in a worker, or without one if the bundle has no file for it.
  const kv = await openKv(folder + "/level");
  const { damages } = await kv.verifyFiles();
  if (damages.length > 0) throw new Error("the files are damaged");
  await kv.close();
  for (const connect of [
    () => etcdEngine({ endpoints: ["http://127.0.0.1:1"], deadline: 300 }),
    () => postgresEngine({ connectionString: "postgres://127.0.0.1:1/none", deadline: 300 }),
  ]) {
    const error = await connect().catch((error) => error);
    if (!(error instanceof EngineUnavailableError)) throw error;
  }
  console.log(hasSqlite ? "done, also on SQLite" : "done");
}
main(process.argv[2]);
`;
