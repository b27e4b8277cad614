import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { createDatabase } from "../src/index.js";
import { entriesOf, rejection, User, users, withUsers } from "./user-model.js";

it("stores rows and pointers under the guide's keys", () =>
  withUsers(async (db, kv) => {
    const ada = await db.users.create({ data: users.ada });
    expect(await entriesOf(kv)).toEqual([
      { key: ["users", ada.id], value: ada },
      { key: ["users_by_email", "ada@example.com"], value: ada.id },
      { key: ["users_by_favorite_color", "green", ada.id], value: ada.id },
    ]);
  }));

it("takes data written by hand as the guide shows for a model's", async () => {
  const kv = await openKv();
  try {
    const id = "01H76YTWK3YBV020S6MP69TBEQ";
    const row = { id, ...users.ada };
    await kv
      .atomic()
      .set(["users", id], row)
      .set(["users_by_email", "ada@example.com"], id)
      .set(["users_by_favorite_color", "green", id], id)
      .commit();
    const db = await createDatabase({ kv, models: { users: User } });
    expect(await db.users.findUnique({ where: { email: "ADA@EXAMPLE.COM" } })).toEqual(row);
    const green = await db.users.findMany({ where: { favoriteColor: "green" } });
    expect(green.items).toEqual([row]);
    const error = await rejection(db.users.create({ data: users.ada }));
    expect(error.code).toBe("KW_UNIQUE_CONSTRAINT");
    await db.users.delete({ where: { id } });
    expect(await entriesOf(kv)).toEqual([]);
  } finally {
    await kv.close();
  }
});

it("does not read an index that data written by hand does not have", async () => {
  const kv = await openKv();
  try {
    const id = "01H76YTWK3YBV020S6MP69TBEQ";
    await kv.set(["users", id], { id, ...users.ada });
    const db = await createDatabase({ kv, models: { users: User } });
    const error = await rejection(db.users.findMany({ where: { favoriteColor: "green" } }));
    expect(error).toMatchObject({ code: "KW_INDEX_NOT_READY", index: "byFavoriteColor" });
  } finally {
    await kv.close();
  }
});

it("does not return a row that a pointer leads to and that does not have the key", () =>
  withUsers(async (db, kv) => {
    const ada = await db.users.create({ data: users.ada });
    await kv.set(["users_by_email", "other@example.com"], ada.id);
    await kv.set(["users_by_email", "nobody@example.com"], "01H76YTWK3YBV020S6MP69TBEQ");
    await kv.set(["users_by_favorite_color", "red", ada.id], ada.id);
    expect(await db.users.findUnique({ where: { email: "other@example.com" } })).toBeNull();
    expect(await db.users.findUnique({ where: { email: "nobody@example.com" } })).toBeNull();
    expect((await db.users.findMany({ where: { favoriteColor: "red" } })).items).toEqual([]);
  }));

it("lets a row take a unique value whose entry points nowhere, or to a row that does not have it", () =>
  withUsers(async (db, kv) => {
    const ada = await db.users.create({ data: users.ada });
    await kv.set(["users_by_email", "cyd@example.com"], ada.id);
    const cyd = await db.users.create({ data: users.cyd });
    expect((await kv.get(["users_by_email", "cyd@example.com"])).value).toBe(cyd.id);
    await kv.set(["users_by_email", "bob@example.com"], "01H76YTWK3YBV020S6MP69TBEQ");
    const bob = await db.users.create({ data: users.bob });
    expect((await kv.get(["users_by_email", "bob@example.com"])).value).toBe(bob.id);
  }));
