import { CorruptionError, encodeKey, openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { createFolderDatabase, userCount } from "./damaged-database.js";
import { endOfJob } from "./end-of-job.js";
import { models, userOf } from "./example.js";
import { openStudio } from "./open-studio.js";

const users = { property: "users" };

it("finds no damage in intact files", async () => {
  await using database = await createFolderDatabase();
  await using kv = await openKv(database.path);
  await using open = await openStudio({ kv, models, readOnly: true });
  await open.call("checkFiles", null);
  const job = await endOfJob(open);
  expect(job).toMatchObject({ kind: "files", outcome: "intact", files: { files: 1, damages: [] } });
  expect(await open.call("damage", null)).toBeNull();
});

it("has nothing to check if the database is in memory", async () => {
  await using kv = await openKv();
  await using open = await openStudio({ kv });
  await open.call("checkFiles", null);
  expect(await endOfJob(open)).toMatchObject({ outcome: "no-files", files: null });
});

it("shows the file, the keys and the rows that a damage hides", async () => {
  await using database = await createFolderDatabase();
  await using kv = await openKv(database.path);
  await using open = await openStudio({ kv, models });
  const file = await database.damage();
  await open.call("verify", { isRepair: false });
  const job = await endOfJob(open);
  expect(job).toMatchObject({ state: "ended", outcome: "damaged-files", error: null });
  expect(job.files?.damages).toEqual([
    {
      file,
      offset: expect.any(Number),
      reason: "a block does not match its checksum",
      firstKey: ["users", expect.stringMatching(/^user-/)],
      lastKey: ["users", expect.stringMatching(/^user-/)],
      affected: ["rows of users"],
    },
  ]);
  const { path } = database;
  const damage = { path, isReadable: false, reason: expect.stringContaining(file) };
  expect(await open.call("damage", null)).toEqual(damage);
  // All calls of the database fail now. The page opens nevertheless, and the check can be repeated.
  const rows = open.call("rows", { ...users, query: { index: "byEmail" } });
  await expect(rows).rejects.toMatchObject({ code: "KW_CORRUPTION" });
  const info = await open.call("info", null);
  expect(info).toMatchObject({ damage });
  expect(info.models.at(-1)?.indexes[0]?.state).toBe("unknown");
  await open.call("checkFiles", null);
  expect((await endOfJob(open)).files).toEqual(job.files);
});

it("shows what can be read if a damaged database was opened nevertheless", async () => {
  await using database = await createFolderDatabase();
  const file = await database.damage();
  const damage = await openKv(database.path).catch((error: CorruptionError) => error);
  if ("close" in damage) throw new Error("The database opened.");
  await using kv = await openKv(database.path, { checkFiles: false, readOnly: true });
  await using open = await openStudio({ kv, models, damage });
  const info = await open.call("info", null);
  expect(info).toMatchObject({ isReadOnly: true, damage: { isReadable: true } });
  const first = await open.call("rows", { ...users, query: { orderBy: { id: "asc" }, take: 2 } });
  expect(first.items.map(({ row }) => row["id"])).toEqual([userOf(0).id, userOf(1).id]);
  const last = await open.call("rows", { ...users, query: { orderBy: { id: "desc" }, take: 1 } });
  expect(last.items.map(({ row }) => row["id"])).toEqual([userOf(userCount - 1).id]);
  await open.call("checkFiles", null);
  const [place, ...others] = (await endOfJob(open)).files?.damages ?? [];
  expect([place?.file, others]).toEqual([file, []]);
  // The keys before the damage are shown.
  const [, firstLost = ""] = (place?.firstKey ?? []) as string[];
  const before = Number(firstLost.slice("user-".length)) - 1;
  const after = userOf(before - 10).id;
  const keys = await open.call("keys", { prefix: ["users"], after });
  expect(keys.children.at(-1)?.part).toBe(userOf(before).id);
  expect(keys.damage).toContain("damaged");
  const create = open.call("create", { ...users, data: userOf(userCount) });
  await expect(create).rejects.toMatchObject({ message: expect.stringContaining("read-only") });
});

it("shows keys if the damage hides what the database knows about the models", async () => {
  await using database = await createFolderDatabase();
  await using kv = await openKv(database.path);
  await database.damage();
  await kv.verifyFiles();
  await using open = await openStudio({ kv, models });
  const info = await open.call("info", null);
  expect(info).toMatchObject({ models: [], damage: { path: database.path, isReadable: false } });
});

it("names the entry if a record is damaged, and not a file", async () => {
  await using kv = await openKv();
  const error = new CorruptionError("a record does not match its checksum", encodeKey(["a", 1n]));
  const damaged = new Proxy(kv, {
    get: (target, name) => {
      if (name === "get") return () => Promise.reject(error);
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  await using open = await openStudio({ kv: damaged });
  await expect(open.call("entry", { key: ["a", 1n] })).rejects.toMatchObject({
    code: "KW_CORRUPTION",
    damagedKey: ["a", 1n],
  });
  // Other entries can be read.
  expect(await open.call("info", null)).toMatchObject({ damage: null });
});
