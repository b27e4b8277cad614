import { openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import * as z from "zod";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.ulid(), email: z.email() }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true, normalize: "lowercase" } },
});

test("finds a user by email, in memory and on disk", async () => {
  for (const path of [undefined, process.env.DATABASE]) {
    const kv = await openKv(path);
    const db = await createDatabase({ kv, models: { users: User } });
    const user = await db.users.create({ data: { email: "ada@example.com" } });
    expect(await db.users.findUnique({ where: { email: "ADA@example.com" } })).toEqual(user);
    const again = db.users.create({ data: { email: "ada@example.com" } });
    await expect(again).rejects.toMatchObject({ code: "KW_UNIQUE_CONSTRAINT" });
    await kv.close();
  }
});
