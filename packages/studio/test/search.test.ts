import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { type EmbeddedKv, openKv } from "@keywright/core";
import { expect, it } from "vitest";
import type { SearchHits } from "../src/protocol/rows.js";
import { fillNotes, searched } from "./example-search.js";
import { openStudio } from "./open-studio.js";

const notes = { property: "notes", index: "search", where: {}, cursor: null };

it("describes full-text indexes, which serve no lists", async () => {
  await using kv = await openKv();
  await using open = await openStudio({ kv, models: searched });
  const { models } = await open.call("info", null);
  expect(models[0]!.indexes).toMatchObject([
    { name: "byTeam", text: null, isQueryable: true },
    { name: "search", text: ["title", "body"], fields: [], isQueryable: false, state: "readable" },
    { name: "ofTeam", text: ["body"], fields: [{ name: "team" }], isQueryable: false },
  ]);
});

it("finds rows page by page, the best first, with their versionstamps", async () => {
  await using kv = await openKv();
  const db = await fillNotes(kv);
  await using open = await openStudio({ kv, models: searched, readOnly: true });
  const sizes = [];
  const ids = new Set<unknown>();
  let cursor: string | null = null;
  do {
    const page: SearchHits = await open.call("search", { ...notes, query: "foxes", cursor });
    expect(page.count).toBe(45);
    sizes.push(page.items.length);
    for (const { row } of page.items) ids.add(row["id"]);
    ({ cursor } = page);
  } while (cursor !== null);
  expect(sizes).toEqual([20, 20, 5]);
  expect(ids.size).toBe(45);
  const { items } = await open.call("search", { ...notes, query: "jumping" });
  const stored = await db.notes.findUnique({ where: { id: "note-07" }, withVersionstamp: true });
  expect(items).toMatchObject([{ ...stored, score: expect.any(Number) }]);
});

it("cuts texts at the words that were found, and says what was ignored", async () => {
  await using kv = await openKv();
  await fillNotes(kv);
  await using open = await openStudio({ kv, models: searched });
  const { items, ignored } = await open.call("search", { ...notes, query: 'the jumping fox "' });
  expect(ignored).toMatchObject([
    { text: "the", reason: "stopWord" },
    { text: '"', reason: "quote" },
  ]);
  const [{ excerpts }] = items as [(typeof items)[0]];
  expect(excerpts[0]).toEqual({
    field: "title",
    parts: ["", "Jumping", " <b>", "foxes", "</b>"],
  });
  const body = excerpts[1]!;
  expect([body.field, body.parts[1], body.parts[3]]).toEqual(["body", "fox", "fox"]);
  expect(body.parts.slice(2)).toEqual(["\u202e came, and the ", "fox", " left."]);
  expect(body.parts[0]).toMatch(/^… .{100,} Then a $/);
});

it("searches the rows of one key, and refuses a search that the index does not serve", async () => {
  await using kv = await openKv();
  await fillNotes(kv);
  await using open = await openStudio({ kv, models: searched });
  const ofTeam = { ...notes, index: "ofTeam", query: "fox" };
  expect((await open.call("search", { ...ofTeam, where: { team: "red" } })).count).toBe(5);
  await expect(open.call("search", ofTeam)).rejects.toMatchObject({ code: "KW_QUERY_INVALID" });
  await expect(
    open.call("search", { ...ofTeam, index: "byTeam", where: { team: "red" } }),
  ).rejects.toMatchObject({ code: "KW_INDEX_UNKNOWN" });
});

it("searches a database that another thread has opened", async () => {
  const parent = await mkdtemp(join(tmpdir(), "keywright-studio-"));
  const path = join(parent, "data");
  const owner = await openInThread(path);
  try {
    await using kv: EmbeddedKv = await openKv(path, { durability: "relaxed" });
    expect(kv.attached).toBeDefined();
    await fillNotes(kv);
    await using open = await openStudio({ kv, models: searched, readOnly: true });
    const { items, count } = await open.call("search", { ...notes, query: "dog" });
    expect([count, items[0]!.excerpts[0]!.parts]).toEqual([1, ["", "Dogs", ""]]);
  } finally {
    await owner.terminate();
    await rm(parent, { recursive: true, force: true });
  }
});

async function openInThread(path: string): Promise<Worker> {
  const code = `
    const { parentPort, workerData } = require("node:worker_threads");
    import("@keywright/core")
      .then(({ openKv }) => openKv(workerData, { durability: "relaxed" }))
      .then(() => parentPort.postMessage("open"));
    setInterval(() => undefined, 60_000);
  `;
  const worker = new Worker(code, { eval: true, workerData: path });
  await once(worker, "message");
  return worker;
}
