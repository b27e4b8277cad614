import { openKv } from "@keywright/core";
import {
  createDatabase,
  defineModel,
  UniqueConstraintError,
} from "@keywright/orm";
import * as z from "zod";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), email: z.email() }),
  primaryKey: "id",
  indexes: {
    byEmail: {
      key: "email",
      unique: true,
      normalize: "lowercase",
    },
  },
});

const kv = await openKv();
const db = await createDatabase({ kv, models: { users: User } });

await db.users.create({
  data: { id: "ada", email: "Ada@example.com" },
});
const found = await db.users.findUnique({
  where: { email: "ADA@example.com" },
});
console.log(found?.id);

const twin = { id: "twin", email: "ada@EXAMPLE.com" };
try {
  await db.users.create({ data: twin });
} catch (error) {
  if (!(error instanceof UniqueConstraintError)) throw error;
  console.log(error.index, error.value);
}

// Nobody catches this one. The page shows its code.
await db.users.create({ data: twin });
