import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type EmbeddedKv, openKv } from "@keywright/core";
import { createDatabase } from "@keywright/orm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as byColor from "../src/by-hand/non-unique-index.js";
import * as byEmail from "../src/by-hand/unique-index.js";
import { User } from "../src/user.js";

const ada = { id: "1", name: "Ada", email: "Ada@example.com", favoriteColor: "green" };
const bob = { id: "2", name: "Bob", email: "bob@example.com", favoriteColor: "green" };

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

async function keys(): Promise<unknown[]> {
  const found = [];
  for await (const { key } of kv.list({ prefix: [] })) found.push(key);
  return found;
}

describe("the guide, by hand", () => {
  it("inserts a user once, whichever of the two is taken", async () => {
    await byEmail.insertUser(kv, ada);
    await expect(byEmail.insertUser(kv, { ...bob, id: "1" })).rejects.toThrow(TypeError);
    await expect(byEmail.insertUser(kv, { ...bob, email: "ADA@example.com" })).rejects.toThrow(
      TypeError,
    );
    expect(await keys()).toEqual([
      ["users", "1"],
      ["users_by_email", "ada@example.com"],
    ]);
  });

  it("gets a user by id and by email in any letter case", async () => {
    await byEmail.insertUser(kv, ada);
    expect(await byEmail.getUser(kv, "1")).toEqual(ada);
    expect(await byEmail.getUserByEmail(kv, "aDA@EXAMPLE.com")).toEqual(ada);
    expect(await byEmail.getUser(kv, "2")).toBeNull();
    expect(await byEmail.getUserByEmail(kv, "bob@example.com")).toBeNull();
  });

  it("deletes a user whose email address changes meanwhile", async () => {
    await byEmail.insertUser(kv, ada);
    const race = Object.create(kv, {
      get: {
        value: async (key: readonly string[]) => {
          const entry = await kv.get<typeof ada>(key);
          // Between the read and the delete, and once only: another user of the database.
          if (entry.value?.email === ada.email) {
            await kv
              .atomic()
              .check(entry)
              .delete(["users_by_email", "ada@example.com"])
              .set(["users", "1"], { ...ada, email: "new@example.com" })
              .set(["users_by_email", "new@example.com"], "1")
              .commit();
          }
          return entry;
        },
      },
      atomic: { value: () => kv.atomic() },
    }) as EmbeddedKv;
    await byEmail.deleteUser(race, "1");
    expect(await keys()).toEqual([]);
  });

  it("lists users by their favourite colour", async () => {
    for (const user of [ada, bob, { ...ada, id: "3", favoriteColor: "red" }]) {
      await byColor.insertUser(kv, user);
    }
    expect(await byColor.getUsersByFavoriteColor(kv, "green")).toEqual([ada, bob]);
    expect(await byColor.getUsersByFavoriteColor(kv, "blue")).toEqual([]);
  });
});

describe("the same data through a model", () => {
  it("is there without a migration", async () => {
    await byEmail.insertUser(kv, ada);
    await kv.set(["users_by_favorite_color", "green", "1"], "1");
    const db = await createDatabase({ kv, models: { users: User } });
    expect(await db.users.findUnique({ where: { email: "ADA@example.com" } })).toEqual(ada);
    expect((await db.users.findMany({ where: { favoriteColor: "green" } })).items).toEqual([ada]);
  });

  it("is what the code by hand reads", async () => {
    const db = await createDatabase({ kv, models: { users: User } });
    await db.users.create({ data: ada });
    await db.users.create({ data: bob });
    expect(await byEmail.getUserByEmail(kv, "ADA@example.com")).toEqual(ada);
    expect(await byColor.getUsersByFavoriteColor(kv, "green")).toEqual([ada, bob]);
    await db.users.delete({ where: { id: "1" } });
    expect(await byEmail.getUser(kv, "1")).toBeNull();
    expect(await byColor.getUsersByFavoriteColor(kv, "green")).toEqual([bob]);
  });
});

it("runs as a program", async () => {
  const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [main]);
  expect(stdout.split("\n")).toEqual([
    "By hand, on the core",
    "  a second ada@example.com: User with ID or email already exists",
    "  by id: Ada",
    "  by email: Ada",
    "  after the delete: null",
    "  who likes green: Ada, Bob",
    "The same through a model",
    "  users.create: email is already taken (unique index byEmail); use another value, or change the row that has it (user 1)",
    "  by id: Ada",
    "  by email: Ada",
    "  who likes green: Ada, Bob",
    "  after the delete: null",
    "",
  ]);
});
