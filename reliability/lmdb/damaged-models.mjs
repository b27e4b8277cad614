import { createDatabase, defineModel } from "@keywright/orm";
import * as z from "zod";
import { openDatabase } from "../shared/open-database.mjs";

export const users = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), email: z.string(), team: z.string(), text: z.string() }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true }, byTeam: { key: "team" } },
});
const batches = 4;
const rowsOfBatch = 425;
export const rowsOfDatabase = batches * rowsOfBatch;

export function rowOf(id, team) {
  const text = `${"same ".repeat(10)}${(id * 7919) ** 2}`;
  return { id: `user ${id}`, email: `${id}@example.com`, team: `team ${team}`, text };
}

/** Creates a file whose pages have been written and freed several times. */
export async function fillFile(path) {
  const kv = await openDatabase(path);
  const db = await createDatabase({ kv, models: { users } });
  for (let batch = 0; batch < batches; batch++) {
    const data = Array.from({ length: rowsOfBatch }, (_, i) =>
      rowOf(batch * rowsOfBatch + i, batch),
    );
    await db.users.createMany({ data });
    const where = { team: `team ${batch - 1}` };
    await db.users.updateMany({ where, data: { team: "moved" } });
  }
  for (let n = 0; n < 40; n++) await kv.set(["late", n], rowOf(n, n));
  await kv.close();
}
