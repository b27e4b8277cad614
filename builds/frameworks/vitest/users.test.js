import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import { testDatabase } from "@keywright/orm/testing";
import { expect, it } from "vitest";
import * as z from "zod";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.ulid(), email: z.email() }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true, normalize: "lowercase" } },
});

it("refuses an email twice, in memory", async () => {
  const db = await testDatabase({ users: User });
  await db.users.create({ data: { email: "ada@example.com" } });
  const again = db.users.create({ data: { email: "Ada@example.com" } });
  await expect(again).rejects.toMatchObject({ code: "KW_UNIQUE_CONSTRAINT" });
  await db.close();
});

// Test files run at the same time, so each has a folder of its own.
it("finds a user by email, on disk", async () => {
  const folder = await mkdtemp(join(tmpdir(), "users-"));
  const kv = await openKv(folder);
  try {
    const db = await createDatabase({ kv, models: { users: User } });
    const user = await db.users.create({ data: { email: "ada@example.com" } });
    expect(await db.users.findUnique({ where: { email: "ADA@example.com" } })).toEqual(user);
  } finally {
    await kv.close();
    await rm(folder, { recursive: true });
  }
});
