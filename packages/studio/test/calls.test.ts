import { KvU64 as DenoU64, openKv as openDenoKv } from "@deno/kv";
import { openKv } from "@keywright/core";
import { belongsTo, createDatabase, defineModel } from "@keywright/orm";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { endOfJob } from "./end-of-job.js";
import { type Example, models, openExample, userOf } from "./example.js";
import { type OpenStudio, openStudio, send } from "./open-studio.js";

let example: Example;
let open: OpenStudio;
const user = { property: "users" };

beforeEach(async () => {
  example = await openExample();
  open = await openStudio({ kv: example.kv, models, title: "example" });
});

afterEach(async () => {
  vi.useRealTimers();
  await open.studio.close();
  await example.kv.close();
});

it("describes the models", async () => {
  const info = await open.call("info", null);
  expect(info).toMatchObject({ title: "example", isReadOnly: false, isLive: true });
  expect(info.models.map(({ property, name }) => [property, name])).toEqual([
    ["postTags", "post_tags"],
    ["posts", "posts"],
    ["tags", "tags"],
    ["users", "users"],
  ]);
  const users = info.models.at(-1)!;
  expect(users.fields.map(({ name, kind, type }) => [name, kind, type])).toEqual([
    ["id", "string", "string"],
    ["name", "string", "string"],
    ["email", "string", "string (email)"],
    ["plan", "choice", '"free" | "team" | "company"'],
    ["age", "number", "number"],
    ["balance", "bigint", "bigint"],
    ["isActive", "boolean", "boolean"],
    ["createdAt", "date", "Date"],
    ["avatar", "bytes", "Uint8Array"],
    ["settings", "data", "Map<string, boolean>"],
    ["labels", "data", "string[]"],
  ]);
  expect(users.fields[1]?.description).toBe("The name as the user writes it.");
  expect(users.indexes).toMatchObject([
    { name: "byEmail", isUnique: true, state: "readable" },
    { name: "byPlan", isCounted: true, fields: [{}, { name: "createdAt", isDescending: true }] },
    { name: "byAge" },
    { name: "byLabel", each: "labels" },
  ]);
});

describe("rows", () => {
  it("are pages of an index, with their versionstamps", async () => {
    const query = { where: { plan: "team" }, index: "byPlan", take: 2 } as const;
    const first = await open.call("rows", { ...user, query });
    expect(first.items.map(({ row }) => row["id"])).toEqual([userOf(19).id, userOf(16).id]);
    expect(first.items[0]?.row["balance"]).toBe(userOf(19).balance);
    const second = await open.call("rows", { ...user, query: { ...query, cursor: first.cursor! } });
    expect(second.items.map(({ row }) => row["id"])).toEqual([userOf(13).id, userOf(10).id]);
    expect(await open.call("count", { ...user, query })).toBe(7);
  });

  it("fail with the reason if no index serves a query", async () => {
    const query = { where: { isActive: true } };
    await expect(open.call("rows", { ...user, query })).rejects.toMatchObject({
      code: "KW_QUERY_UNINDEXED",
    });
  });

  it("explain themselves", async () => {
    const query = { where: { plan: "team" }, take: 5 };
    const { index, text } = await open.call("explain", { ...user, query });
    expect(index).toBe("byPlan");
    expect(text).toMatch(/^range of \["users_by_plan", "team"\]\n.* At most \d+ reads\.$/);
  });
});

describe("an edit", () => {
  const key = { id: userOf(1).id };

  it("changes the fields that it has", async () => {
    const before = await open.call("row", { ...user, key });
    const { versionstamp } = before!;
    const { row } = await open.call("update", { ...user, key, data: { age: 7 }, versionstamp });
    expect(row).toEqual({ ...before?.row, age: 7 });
  });

  it("is refused if the row has changed since", async () => {
    const { versionstamp } = (await open.call("row", { ...user, key }))!;
    await example.db.users.update({ where: key, data: { age: 3 } });
    const late = open.call("update", { ...user, key, data: { age: 7 }, versionstamp });
    await expect(late).rejects.toMatchObject({ code: "KW_VERSION_CONFLICT" });
    const gone = open.call("delete", { ...user, key, versionstamp });
    await expect(gone).rejects.toMatchObject({ code: "KW_VERSION_CONFLICT" });
    expect((await example.db.users.findUnique({ where: key }))?.age).toBe(3);
  });

  it("removes a field that is undefined, and takes no operations", async () => {
    const ofZero = { id: userOf(0).id };
    const { versionstamp } = (await open.call("row", { ...user, key: ofZero }))!;
    const removed = { ...user, key: ofZero, data: { avatar: undefined }, versionstamp };
    expect((await open.call("update", removed)).row).not.toHaveProperty("avatar");
    const now = (await open.call("row", { ...user, key: ofZero }))!;
    const operation = { ...user, key: ofZero, data: { age: { increment: 1 } } };
    const refused = open.call("update", { ...operation, versionstamp: now.versionstamp });
    await expect(refused).rejects.toMatchObject({ code: "KW_ROW_INVALID" });
  });

  it("needs the versionstamp of the row", async () => {
    const input = { ...user, key, data: { age: 1 } } as never;
    await expect(open.call("update", input)).rejects.toMatchObject({ code: null });
    await expect(open.call("delete", input)).rejects.toMatchObject({ code: null });
    expect(await example.db.users.findUnique({ where: key })).toEqual(userOf(1));
  });

  it("names the fields that are not valid", async () => {
    const { versionstamp } = (await open.call("row", { ...user, key }))!;
    const data = { email: "x", name: "" };
    await expect(open.call("update", { ...user, key, data, versionstamp })).rejects.toMatchObject({
      code: "KW_ROW_INVALID",
      issues: [{ path: ["email"] }, { path: ["name"] }],
    });
  });

  it("names the row that has a unique value", async () => {
    const data = { ...userOf(99), email: userOf(2).email };
    await expect(open.call("create", { ...user, data })).rejects.toMatchObject({
      code: "KW_UNIQUE_CONSTRAINT",
      owner: { property: "users", key: { id: userOf(2).id }, fields: ["email"] },
    });
  });
});

it("shows what a deletion would delete", async () => {
  const preview = await open.call("previewDelete", { ...user, key: { id: userOf(0).id } });
  expect(preview).toEqual({
    deleted: [
      { property: "posts", count: 3, isMore: false },
      { property: "postTags", count: 3, isMore: false },
    ],
    cleared: [],
    restricting: [],
    isSoft: false,
    isIncomplete: false,
  });
  const tag = await open.call("previewDelete", { property: "tags", key: { id: "engines" } });
  expect(tag.restricting).toMatchObject([{ property: "postTags", key: { tagId: "engines" } }]);
});

it("shows that a row that refers to itself can be deleted, and what prevents it", async () => {
  await using kv = await openKv();
  const Node = defineModel({
    name: "nodes",
    schema: z.object({ id: z.string(), parentId: z.string() }),
    primaryKey: "id",
    indexes: { byParent: { key: "parentId" } },
    relations: { parent: belongsTo("nodes", "parentId") },
  });
  const db = await createDatabase({ kv, models: { nodes: Node } });
  await db.nodes.create({ data: { id: "root", parentId: "root" } });
  await using shown = await openStudio({ kv, models: { nodes: Node } });
  const input = { property: "nodes", key: { id: "root" } };
  expect((await shown.call("previewDelete", input)).restricting).toEqual([]);
  await db.nodes.create({ data: { id: "zed", parentId: "root" } });
  const { restricting } = await shown.call("previewDelete", input);
  expect(restricting).toEqual([{ property: "nodes", key: { id: "zed" } }]);
});

it("deletes what the preview shows", async () => {
  const key = { id: userOf(0).id };
  const { versionstamp } = (await open.call("row", { ...user, key }))!;
  await open.call("delete", { ...user, key, versionstamp });
  expect(await open.call("row", { ...user, key })).toBeNull();
  expect(await example.db.posts.count({ where: { authorId: key.id } })).toBe(0);
});

describe("keys", () => {
  it("are the next parts below a prefix", async () => {
    const { children } = await open.call("keys", { prefix: [] });
    const parts = children.map(({ part }) => part);
    expect(parts).toContain("users");
    expect(parts).toContain("cache");
    const cache = await open.call("keys", { prefix: ["cache"] });
    expect(cache.children).toMatchObject([
      { part: "count", hasChildren: false, entry: { type: "bigint", value: 5n, expiresAt: null } },
      { part: "front", entry: { type: "string", expiresAt: expect.any(Number) } },
    ]);
  });

  it("have an entry, or none", async () => {
    expect(await open.call("entry", { key: ["cache", "count"] })).toMatchObject({ value: 5n });
    expect(await open.call("entry", { key: ["cache"] })).toBeNull();
    expect(await open.call("entry", { key: [] })).toBeNull();
  });

  it("have parts of every type", async () => {
    const below = async (prefix: Parameters<typeof open.call<"keys">>[1]["prefix"]) =>
      (await open.call("keys", { prefix })).children;
    expect(await below(["deep"])).toMatchObject([{ part: 1, entry: null, hasChildren: true }]);
    const [last] = await below(["deep", 1, true, 2n]);
    expect(last).toMatchObject({ part: new Uint8Array([1, 255]), hasChildren: false });
    expect(last?.entry).toMatchObject({ type: "Map", value: new Map([["a", new Set([1])]]) });
  });

  it("are read page by page, however many keys are below each", async () => {
    for (let i = 0; i < 250; i++) await example.kv.set(["many", i, "x"], i);
    for (let i = 0; i < 50; i++) await example.kv.set(["many", 3, "y", i], i);
    const seen: unknown[] = [];
    for (let after: number | undefined; ; ) {
      const input = { prefix: ["many"], ...(after !== undefined && { after }) };
      const { children, next } = await open.call("keys", input);
      seen.push(...children.map(({ part }) => part));
      if (next === undefined) break;
      after = next as number;
    }
    expect(seen).toEqual(Array.from({ length: 250 }, (_, i) => i));
  });
});

it("exports rows as NDJSON and CSV", async () => {
  const query = encodeURIComponent('[{"where":1},{"plan":2},"free"]');
  const get = (format: string) =>
    send(`${open.base}api/export?property=users&format=${format}&query=${query}`, {
      cookie: open.cookie,
    });
  const lines = (await get("ndjson")).text.trim().split("\n");
  expect(lines).toHaveLength(7);
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({
    id: userOf(0).id,
    balance: "0",
    createdAt: "2026-01-01T00:00:00.000Z",
    settings: [["dark", true]],
  });
  const csv = (await get("csv")).text.split("\r\n");
  expect(csv[0]).toBe("id,name,email,plan,age,balance,isActive,createdAt,avatar,settings,labels");
  expect(csv).toHaveLength(9);
});

it("exports nothing if the query is refused", async () => {
  for (const query of ['[{"where":1},{"isActive":2},true]', "{", "[null]"]) {
    const url = `${open.base}api/export?property=users&query=${encodeURIComponent(query)}`;
    const { status, headers } = await send(url, { cookie: open.cookie });
    expect([query, status, headers["content-disposition"]]).toEqual([query, 400, undefined]);
  }
});

it("refuses a model that does not exist", async () => {
  for (const path of ["changes", "export"]) {
    const url = `${open.base}api/${path}?property=__proto__`;
    const { status, text } = await send(url, { cookie: open.cookie });
    expect([status, text]).toEqual([400, expect.stringContaining("no model __proto__")]);
  }
});

it("exports cells that a spreadsheet does not run", async () => {
  await example.db.users.create({ data: { ...userOf(50), name: "=1+1", age: -5 } });
  const { text } = await send(`${open.base}api/export?property=users&format=csv`, {
    cookie: open.cookie,
  });
  expect(text).toContain(",'=1+1,");
  expect(text).toContain(",-5,");
});

it("reports changed rows, and shows while there are none that it is there", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const response = await fetch(`${open.base}api/changes?property=users`, {
    headers: { cookie: open.cookie },
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader.read()).value).toContain("event: open");
  await example.db.users.update({ where: { id: userOf(4).id }, data: { age: 1 } });
  expect((await reader.read()).value).toContain(userOf(4).id);
  vi.advanceTimersByTime(5000);
  expect((await reader.read()).value).toContain("event: alive");
  await reader.cancel();
});

describe("jobs", () => {
  it("verify the database and repair it", async () => {
    await example.kv.delete(["users_by_email", userOf(1).email]);
    await open.call("verify", { isRepair: false });
    const verified = await endOfJob(open);
    expect(verified).toMatchObject({ state: "ended", outcome: "damaged" });
    expect(verified.found).toContainEqual({
      model: "users",
      rows: 20,
      index: "byEmail",
      missing: 1,
      dangling: 0,
      mismatched: 0,
    });
    await open.call("verify", { isRepair: true });
    expect(await endOfJob(open)).toMatchObject({ kind: "repair", outcome: "repaired" });
    await open.call("verify", { isRepair: false });
    expect(await endOfJob(open)).toMatchObject({ outcome: "clean" });
  });

  it("run one at a time", async () => {
    await open.call("verify", { isRepair: false });
    await expect(open.call("verify", { isRepair: false })).rejects.toMatchObject({
      message: expect.stringContaining("already runs"),
    });
    await endOfJob(open);
  });
});

it("shows and runs a migration, and finds the rows that prevent it", async () => {
  await using kv = await openKv();
  const schema = z.object({ id: z.string(), code: z.string() });
  const before = { item: defineModel({ name: "items", schema, primaryKey: "id" }) };
  const old = await createDatabase({ kv, models: before });
  await old.item.createMany({
    data: ["a", "b", "c"].map((id) => ({ id, code: id === "c" ? "b" : id })),
  });
  const indexes = { byCode: { key: "code", unique: true } } as const;
  const after = { items: defineModel({ name: "items", schema, primaryKey: "id", indexes }) };
  await using migrating = await openStudio({ kv, models: after });
  const { steps } = await migrating.call("migration", null);
  expect(steps).toMatchObject([{ model: "items", kind: "build-index" }]);
  await migrating.call("migrate", { accept: [], dropModels: [], acceptFailures: false });
  expect(await endOfJob(migrating)).toMatchObject({ state: "ended", outcome: "duplicates" });
  const { items } = await migrating.call("duplicates", {
    ...{ model: "items", index: "byCode", cursor: null },
  });
  expect(items).toEqual([{ value: ["b"], keys: [{ id: "b" }, { id: "c" }] }]);
});

it("restores a row with what was deleted together with it", async () => {
  const deletedAt = z.date().nullable().default(null);
  const issues = defineModel({
    name: "issues",
    schema: z.object({ id: z.string(), deletedAt }),
    primaryKey: "id",
    softDelete: "deletedAt",
  });
  const comments = defineModel({
    name: "comments",
    schema: z.object({ id: z.string(), issueId: z.string(), deletedAt }),
    primaryKey: "id",
    softDelete: "deletedAt",
    indexes: { byIssue: { key: "issueId" } },
    relations: { issue: belongsTo("issues", "issueId", { onDelete: "cascade" }) },
  });
  await using kv = await openKv();
  const soft = { issues, comments };
  const db = await createDatabase({ kv, models: soft });
  await db.issues.create({ data: { id: "i" } });
  await db.comments.createMany({ data: ["a", "b"].map((id) => ({ id, issueId: "i" })) });
  await db.comments.delete({ where: { id: "a" } });
  await db.issues.delete({ where: { id: "i" } });
  await using open = await openStudio({ kv, models: soft });
  const issue = { property: "issues", key: { id: "i" } };
  const { versionstamp } = (await open.call("row", issue))!;
  const restored = await open.call("restore", { ...issue, versionstamp, cascade: true });
  expect(restored.row).toEqual({ id: "i", deletedAt: null });
  expect((await db.comments.scan()).items.map(({ id }) => id)).toEqual(["b"]);
});

it.each(["create", "update", "delete", "restore", "migrate", "verify"] as const)(
  "refuses %s if it is read-only",
  async (name) => {
    await using shown = await openStudio({ kv: example.kv, models, readOnly: true });
    const input = { ...user, key: { id: userOf(0).id }, data: {}, versionstamp: "" };
    await expect(shown.call(name, input as never)).rejects.toMatchObject({
      message: expect.stringContaining("--read-only"),
    });
    expect(await shown.call("info", null)).toMatchObject({ isReadOnly: true });
  },
);

it("shows the keys of a database without models", async () => {
  await using plain = await openStudio({ kv: example.kv });
  expect(await plain.call("info", null)).toMatchObject({ models: [] });
  expect(await plain.call("migration", null)).toMatchObject({ steps: [] });
  const { children } = await plain.call("keys", { prefix: ["cache"] });
  expect(children).toHaveLength(2);
});

it("shows the keys of Deno KV", async () => {
  const deno = await openDenoKv(":memory:");
  try {
    await deno.set(["a", 1], new Date(0));
    await deno.set(["a", 2n], new DenoU64(7n));
    await using plain = await openStudio({ kv: deno });
    expect(await plain.call("info", null)).toMatchObject({ models: [], isLive: false });
    const { children } = await plain.call("keys", { prefix: ["a"] });
    // Deno KV sorts bigints first.
    expect(children).toMatchObject([
      { part: 2n, entry: { type: "KvU64", bytes: 9, value: { value: 7n } } },
      { part: 1, entry: { type: "Date", value: new Date(0), expiresAt: null } },
    ]);
    expect(await plain.call("entry", { key: ["a", 1] })).toMatchObject({ type: "Date" });
  } finally {
    deno.close();
  }
});

it("shows the other keys of a page if one value cannot be sent", async () => {
  await example.kv.set(["odd", 1], JSON.parse('{"__proto__": 1}'));
  let deep: unknown = 1;
  for (let i = 0; i < 5000; i++) deep = [deep];
  await example.kv.set(["odd", 2], deep);
  await example.kv.set(["odd", 3], "fine");
  const { children } = await open.call("keys", { prefix: ["odd"] });
  expect(children.map(({ part }) => part)).toEqual([1, 2, 3]);
  expect(children[2]?.entry?.value).toBe("fine");
});

it("shows values that only the database knows as text", async () => {
  await example.kv.set(["odd"], new Error("lost"));
  const { children } = await open.call("keys", { prefix: [] });
  const odd = children.find(({ part }) => part === "odd");
  expect(String(odd?.entry?.value)).toMatch(/^Error: lost/);
});
