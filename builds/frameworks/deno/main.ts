import { openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import * as z from "zod";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.ulid(), email: z.email() }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true, normalize: "lowercase" } },
});

await using kv = await openKv(Deno.args[0]);
const db = await createDatabase({ kv, models: { users: User } });
const where = { email: "ada@example.com" };
const user = await db.users.upsert({ where, create: where, update: {} });
console.log(user.email);
