import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import * as z from "zod";
import { createDatabase, type Database, defineModel } from "../src/index.js";

/** The user of the secondary-index guide, with the guide's two indexes. */
export const User = defineModel({
  name: "users",
  schema: z.object({
    id: z.ulid(),
    name: z.string(),
    email: z.email(),
    favoriteColor: z.string(),
    age: z.int().optional(),
  }),
  primaryKey: "id",
  indexes: {
    byEmail: { key: "email", unique: true, normalize: (email) => email.toLowerCase() },
    byFavoriteColor: { key: "favoriteColor" },
  },
});

/** The same, with two indexes more: those that a later version of a program declares. */
export const LaterUser = defineModel({
  ...User,
  indexes: {
    ...User.indexes,
    byAge: { key: "age" },
    byName: { key: "name", unique: true },
  },
});

export const users = {
  ada: { name: "Ada", email: "Ada@example.com", favoriteColor: "green" },
  bob: { name: "Bob", email: "bob@example.com", favoriteColor: "red", age: 42 },
  cyd: { name: "Cyd", email: "cyd@example.com", favoriteColor: "green", age: 7 },
} as const;

/** Runs a test on a database in memory, which is closed whatever the test does. */
export async function withUsers(
  test: (db: Database<{ users: typeof User }>, kv: EmbeddedKv) => Promise<void>,
): Promise<void> {
  const kv = await openKv();
  try {
    await test(await createDatabase({ kv, models: { users: User } }), kv);
  } finally {
    await kv.close();
  }
}

/** All entries of a database but Keywright's own, as plain pairs of key and value. */
export async function entriesOf(kv: Kv): Promise<{ key: unknown; value: unknown }[]> {
  const entries = [];
  for await (const { key, value } of kv.list({ prefix: [] })) {
    if (key[0] !== "__keywright") entries.push({ key, value });
  }
  return entries;
}

/** The error that a promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<Record<string, unknown>> {
  try {
    await promise;
  } catch (error) {
    return error as Record<string, unknown>;
  }
  throw new Error("the promise did not reject");
}

/**
 * The errors that promises reject with. Calls that run at the same time are awaited together: one
 * that rejects while another is awaited would end the test run.
 */
export function rejections(
  promises: readonly Promise<unknown>[],
): Promise<Record<string, unknown>[]> {
  return Promise.all(promises.map(rejection));
}
