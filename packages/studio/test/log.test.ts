import { afterEach, beforeEach, expect, it } from "vitest";
import type { FeedCommit } from "../src/protocol/rows.js";
import { decode } from "../src/protocol/wire.js";
import { type Example, models, openExample, userOf } from "./example.js";
import { type OpenStudio, openStudio } from "./open-studio.js";

let example: Example;
let open: OpenStudio;
const key = { id: userOf(1).id };
const row = { property: "users", key };

beforeEach(async () => {
  example = await openExample(3, { log: { keep: "7 days" } });
  open = await openStudio({ kv: example.kv, models });
});
afterEach(async () => {
  await open.studio.close();
  await example.kv.close();
});

async function rename(name: string): Promise<void> {
  const { users } = example.db.withContext({ actor: "ada", reason: "a new name" });
  await users.update({ where: key, data: { name } });
}

it("returns the versions of a row, and restores one of them unless the row has changed", async () => {
  await rename("Lovelace");
  const { items, cursor } = await open.call("history", { ...row, cursor: null });
  expect(items.map((version) => version.row)).toMatchObject([
    { name: "Lovelace" },
    { name: "Ada Lovelace 1" },
  ]);
  expect(items[0]).toMatchObject({ context: { actor: "ada", reason: "a new name" } });
  expect(items[0]!.time).toBeInstanceOf(Date);
  expect(cursor).toBeNull();
  const { versionstamp } = items[1]!;
  const stale = open.call("restoreVersion", { ...row, versionstamp, ifVersion: versionstamp });
  await expect(stale).rejects.toMatchObject({ code: "KW_VERSION_CONFLICT" });
  await open.call("restoreVersion", { ...row, versionstamp, ifVersion: items[0]!.versionstamp });
  expect(await example.db.users.findUnique({ where: key })).toEqual({ ...userOf(1) });
});

it("restores a row that was deleted, and nothing if it is read-only", async () => {
  const { items } = await open.call("history", { ...row, cursor: null });
  const { versionstamp } = items[0]!;
  await example.db.users.delete({ where: key });
  const after = await open.call("history", { ...row, cursor: null });
  expect(after.items.map((version) => version.row?.["name"])).toEqual([
    undefined,
    "Ada Lovelace 1",
  ]);
  const readOnly = await openStudio({ kv: example.kv, models, readOnly: true });
  const restored = { ...row, versionstamp, ifVersion: null };
  await expect(readOnly.call("restoreVersion", restored)).rejects.toMatchObject({
    message: expect.stringContaining("read-only"),
  });
  await readOnly.studio.close();
  expect(await example.db.users.findUnique({ where: key })).toBeNull();
  await open.call("restoreVersion", restored);
  expect(await example.db.users.findUnique({ where: key })).toEqual(userOf(1));
});

it("returns the newest commits, of all models or of one, page by page", async () => {
  await rename("Lovelace");
  await example.kv.set(["other"], 1);
  const all = await open.call("feed", { property: null, before: null });
  expect(all.items[0]).toMatchObject({ rows: [], others: 1 });
  expect(all.items[1]).toMatchObject({
    context: { actor: "ada" },
    rows: [{ property: "users", key, type: "update", after: { name: "Lovelace" } }],
  });
  expect(all.newest).toBe(all.items[0]!.versionstamp);
  const ofUsers = await open.call("feed", { property: "users", before: null });
  expect(
    ofUsers.items.every(({ rows }) => rows.every(({ property }) => property === "users")),
  ).toBe(true);
  expect(ofUsers.items[0]).toEqual({ ...all.items[1], others: expect.any(Number) });
  const next = await open.call("feed", { property: null, before: all.items[1]!.versionstamp });
  expect(next.items).toEqual(all.items.slice(2));
  for (let n = 0; n < 60; n++) await rename(`${n}`);
  const first = await open.call("feed", { property: "users", before: null });
  expect(first.items).toHaveLength(50);
  const second = await open.call("feed", { property: "users", before: first.cursor });
  expect(second.items[0]!.rows[0]!.after).toMatchObject({ name: "9" });
});

it("sends further commits as events, and continues after the last one of a page", async () => {
  const { newest } = await open.call("feed", { property: "users", before: null });
  await rename("one");
  await example.kv.set(["other"], 1);
  await rename("two");
  const events = async (count: number, headers: Record<string, string> = {}) => {
    const ending = new AbortController();
    const response = await fetch(`${open.base}api/feed?property=users&after=${newest}`, {
      headers: { cookie: open.cookie, ...headers },
      signal: ending.signal,
    });
    const found: { readonly id: string; readonly name: unknown }[] = [];
    let text = "";
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      for (;;) {
        const end = text.indexOf("\n\n");
        if (end === -1) break;
        const [, data, id] = /data: (.*)\nid: (.*)/.exec(text.slice(0, end)) ?? [];
        text = text.slice(end + 2);
        if (data === undefined || id === undefined) continue;
        found.push({ id, name: decode<FeedCommit>(data).rows[0]!.after!["name"] });
      }
      if (found.length >= count) break;
    }
    ending.abort();
    return found;
  };
  const found = await events(2);
  expect(found.map(({ name }) => name)).toEqual(["one", "two"]);
  const again = await events(1, { "last-event-id": found[0]!.id });
  expect(again.map(({ name }) => name)).toEqual(["two"]);
});

it("says whether there is a log", async () => {
  expect(await open.call("info", null)).toMatchObject({ hasLog: true });
  const plain = await openExample(1);
  const other = await openStudio({ kv: plain.kv, models });
  expect(await other.call("info", null)).toMatchObject({ hasLog: false });
  await expect(other.call("feed", { property: null, before: null })).rejects.toMatchObject({
    code: "KW_LOG_OFF",
  });
  await other.studio.close();
  await plain.kv.close();
});
