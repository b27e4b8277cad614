import { type EmbeddedKv, type KvEntry, type KvKey, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { adopt } from "../src/adopt.js";
import { guideLayout } from "../src/change/adopt/source/guide-layout.js";
import { createDatabase, defineMigration, defineModel, migrate } from "../src/index.js";
import { findFailedRows } from "../src/migrate.js";
import { readEntriesAfter } from "../src/state/run/read-entries-after.js";

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv(undefined, { compat: "deno" });
});
afterEach(() => kv.close());

const Old = defineModel({
  name: "notes",
  schema: z.object({ id: z.string(), text: z.string() }),
  primaryKey: "id",
});

/**
 * Ids so long that their rows' keys have as many bytes as Deno KV stores, or a few less, and one
 * that is short.
 */
const ids = [0, 1, 2, 3]
  .flatMap((less) => ["a", "b", "c"].map((first) => first.repeat(2048 - 9 - less)))
  .concat("d")
  .sort();

async function fill(): Promise<void> {
  const db = await createDatabase({ kv, models: { notes: Old } });
  for (const id of ids) await db.notes.create({ data: { id, text: "t" } });
}

async function idsUnder(prefix: KvKey, on = kv): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { key } of on.list({ prefix })) found.push(key.at(-1));
  return found;
}

it("entries are read page by page behind keys as long as the database takes them", async () => {
  await fill();
  for (const limit of [1, 2, 3, 20]) {
    const read: unknown[] = [];
    for (let after: KvKey | null = null; ; ) {
      const page: KvEntry<unknown>[] = await readEntriesAfter(
        { kv, limits: kv.limits },
        ["notes"],
        after,
        limit,
      );
      read.push(...page.map(({ key }) => key[1]));
      if (page.length < limit) break;
      after = page.at(-1)?.key ?? after;
    }
    expect(read).toEqual(ids);
  }
});

it("a page behind a long key whose entry is gone is as long as asked for", async () => {
  await fill();
  const [first = ""] = ids;
  const after = ["notes", "a".repeat(2039)];
  await kv.delete(after);
  const page = await readEntriesAfter({ kv, limits: kv.limits }, ["notes"], after, 3);
  expect(page.map(({ key }) => key[1])).toEqual(
    ids.filter((id) => id > (after[1] ?? "")).slice(0, 3),
  );
  expect(first < (after[1] ?? "")).toBe(true);
});

it("a change of all rows records the long ones that fail, lists them in pages, and ends when they are taken", async () => {
  await fill();
  const New = defineModel({ ...Old, schema: Old.schema.extend({ size: z.int() }) });
  const open = (isBad: (id: string) => boolean) =>
    createDatabase({
      kv,
      models: { notes: New },
      migrations: [
        defineMigration({
          model: New,
          from: Old.schema,
          to: New.schema,
          up: (row) => {
            if (isBad(row.id)) throw new Error("bad");
            return { ...row, size: 1 };
          },
        }),
      ],
    });
  const isBad = (id: string) => !id.startsWith("b");
  const bad = ids.filter(isBad);
  for (let run = 0; run < 2; run++) {
    const db = await open(isBad);
    // One row at a time, so that each key is one behind which a batch begins.
    const result = await migrate(db, { rowsPerSecond: 1000 });
    expect(result.status).toBe("failed-rows");
    const listed: unknown[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof findFailedRows>> = await findFailedRows(db, {
        model: "notes",
        take: 2,
        cursor,
      });
      listed.push(...page.items.map(({ id }) => id));
      ({ cursor } = page);
    } while (cursor !== null);
    expect(listed.sort()).toEqual(bad);
  }
  const result = await migrate(await open(() => false));
  expect(result.status).toBe("done");
  expect(await idsUnder(["__keywright", "failed"])).toEqual([]);
  for await (const { value } of kv.list({ prefix: ["notes"] })) {
    expect(value).toMatchObject({ size: 1 });
  }
});

it("documents under long keys are adopted", async () => {
  const source = await openKv(undefined, { compat: "deno" });
  try {
    for (let n = 0; n < 102; n++) {
      const id = "a".repeat(1900) + String(n).padStart(2039 - 1900, "0");
      await source.set(["notes", id], { id, text: "t" });
    }
    const db = await createDatabase({ kv, models: { notes: Old } });
    const { status, models } = await adopt(db, {
      from: source,
      models: { notes: guideLayout(Old) },
    });
    expect({ status, adopted: models[0]?.adopted }).toEqual({ status: "done", adopted: 102 });
    expect(await idsUnder(["notes"])).toEqual(await idsUnder(["notes"], source));
  } finally {
    await source.close();
  }
});
