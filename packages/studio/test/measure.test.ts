import { encodeKey, encodeValue, openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import { expect, it } from "vitest";
import * as z from "zod";
import { models, openExample } from "./example.js";
import { openStudio } from "./open-studio.js";

async function bytesBelow(kv: Awaited<ReturnType<typeof openKv>>, place: string): Promise<number> {
  let bytes = 0;
  for await (const { key, value } of kv.list({ prefix: [place] })) {
    bytes += encodeKey(key).length + encodeValue(value).length;
  }
  return bytes;
}

it("measures all entries if there are few", async () => {
  const { kv } = await openExample(20);
  await using open = await openStudio({ kv, models });
  // A key below the key of a row belongs to no row.
  await kv.set(["users", "user-0000001", "draft"], "x".repeat(5000));
  const { rows, indexes } = await open.call("measure", { property: "users" });
  await kv.delete(["users", "user-0000001", "draft"]);
  const bytes = await bytesBelow(kv, "users");
  expect(rows).toEqual({ entries: 20, bytes, precision: "exact" });
  expect(indexes["byEmail"]).toEqual({
    ...{ entries: 20, precision: "exact" },
    bytes: await bytesBelow(kv, "users_by_email"),
  });
  // Rows without an age are not in the index.
  expect(indexes["byAge"]?.entries).toBe(18);
  await kv.close();
});

it("estimates the size of many entries from the first and the last ones", async () => {
  const { kv } = await openExample(5000);
  await using open = await openStudio({ kv, models });
  const { rows, indexes } = await open.call("measure", { property: "users" });
  expect(rows).toMatchObject({ entries: 5000, precision: "estimate" });
  const isNear = (estimate: number, real: number) => Math.abs(estimate - real) / real < 0.05;
  expect(isNear(rows.bytes, await bytesBelow(kv, "users"))).toBe(true);
  for (const index of ["byEmail", "byPlan", "byAge", "byLabel"]) {
    const { bytes, entries, precision } = indexes[index]!;
    expect([index, precision]).toEqual([index, "estimate"]);
    const place = `users_by_${index.slice(2).toLowerCase()}`;
    let real = 0;
    for await (const _ of kv.list({ prefix: [place] })) real++;
    expect([index, isNear(entries, real)]).toEqual([index, true]);
    expect([index, isNear(bytes, await bytesBelow(kv, place))]).toEqual([index, true]);
  }
  await kv.close();
});

it("measures rows that are marked as deleted, and leaves other entries of an index out", async () => {
  await using kv = await openKv();
  const schema = z.object({ id: z.string(), name: z.string(), deletedAt: z.date().optional() });
  const indexes = { byName: { key: "name" } } as const;
  const Note = defineModel({
    ...{ name: "notes", schema, primaryKey: "id", indexes },
    ...{ softDelete: "deletedAt", count: true },
  });
  const db = await createDatabase({ kv, models: { notes: Note } });
  const data = Array.from({ length: 3000 }, (_, i) => ({ id: String(i), name: `note ${i}` }));
  await db.notes.createMany({ data });
  for (let i = 0; i < 3000; i += 3) await db.notes.delete({ where: { id: String(i) } });
  await using open = await openStudio({ kv, models: { notes: Note } });
  const measured = await open.call("measure", { property: "notes" });
  expect(measured.rows.precision).toBe("estimate");
  expect(Math.abs(measured.rows.entries - 3000)).toBeLessThan(30);
  expect(measured.indexes["byName"]?.precision).toBe("estimate");
  expect(Math.abs(measured.indexes["byName"]!.entries - 2000)).toBeLessThan(20);
});
