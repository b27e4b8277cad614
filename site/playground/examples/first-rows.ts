import { openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import * as z from "zod";

// A model: a Zod schema, a primary key, and indexes.
const User = defineModel({
  name: "users",
  schema: z.object({
    id: z.ulid(),
    name: z.string(),
    color: z.string(),
  }),
  primaryKey: "id",
  indexes: { byColor: { key: "color" } },
});

const kv = await openKv();
const db = await createDatabase({ kv, models: { users: User } });

const ada = await db.users.create({
  data: { name: "Ada", color: "green" },
});
await db.users.create({ data: { name: "Bob", color: "green" } });
await db.users.create({ data: { name: "Cy", color: "red" } });

const green = await db.users.findMany({
  where: { color: "green" },
});
for (const user of green.items) console.log(user.name);

// The row and its index entry change in one commit.
await db.users.update({
  where: { id: ada.id },
  data: { color: "red" },
});
const red = await db.users.findMany({ where: { color: "red" } });
console.log(red.items.map((user) => user.name));
