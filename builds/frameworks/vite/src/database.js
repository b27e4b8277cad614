import { openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import * as z from "zod";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.ulid(), name: z.string().min(1), email: z.email() }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true, normalize: "lowercase" } },
});

// Vite loads this module again after each change. The open database is kept in the process, and
// gets the changed models.
globalThis.keywright ??= openKv(process.env.DATABASE ?? "./data");
export const db = await createDatabase({ kv: await globalThis.keywright, models: { users: User } });
