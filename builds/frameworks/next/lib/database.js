import { openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import * as z from "zod";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.ulid(), name: z.string().min(1), email: z.email() }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true, normalize: "lowercase" } },
});

let opened;

/** The database of the process, which the first request opens. */
export function database() {
  opened ??= open();
  return opened;
}

// `next dev` loads this module again after each change. The open database is kept in the process,
// and gets the changed models.
async function open() {
  try {
    globalThis.keywright ??= openKv(process.env.DATABASE ?? "./data");
    return await createDatabase({ kv: await globalThis.keywright, models: { users: User } });
  } catch (error) {
    opened = globalThis.keywright = undefined;
    throw error;
  }
}
