import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDatabase, type Database, type QueryEvent } from "../src/index.js";
import { copiedModels } from "./copied-models.js";
import { rejection } from "./user-model.js";

let kv: EmbeddedKv;
let db: Database<typeof copiedModels>;
const events: QueryEvent[] = [];

beforeEach(async () => {
  kv = await openKv();
  const onQuery = (event: QueryEvent) => void events.push(event);
  db = await createDatabase({ kv, models: copiedModels, onQuery });
  await db.labels.createMany({ data: [{ id: "bug" }, { id: "ui" }] });
  await db.issues.createMany({
    data: Array.from({ length: 50 }, (_, i) => ({ id: `i${i}`, priority: (i * 7) % 50 })),
  });
  await db.issueLabels.createMany({
    data: Array.from({ length: 50 }, (_, i) => ({
      issueId: `i${i}`,
      labelId: i % 5 === 0 ? "ui" : "bug",
    })),
  });
});
afterEach(() => kv.close());

const bug = { where: { id: "bug" } };

describe("include of a manyToMany relation", () => {
  it("returns rows in an order of the rows between, and reads only those it returns", async () => {
    events.length = 0;
    const labels = await db.labels.findMany({
      where: { id: "bug" },
      include: { issues: { orderBy: { priority: "desc" }, take: 5 } },
    });
    expect(labels.items[0]?.issues.map(({ priority }) => priority)).toEqual([49, 48, 47, 46, 44]);
    // The label, five entries with their rows, and five issues.
    expect(events[0]?.reads).toBeLessThanOrEqual(18);
  });

  it("returns the rows whose rows between meet conditions", async () => {
    const label = await db.labels.findUniqueOrThrow({
      ...bug,
      include: {
        issues: { where: { priority: { gte: 40, lt: 45 } }, orderBy: { priority: "asc" } },
      },
    });
    const expected = (await db.issues.scan({ take: 100 })).items
      .filter(
        ({ id, priority }) => Number(id.slice(1)) % 5 !== 0 && priority >= 40 && priority < 45,
      )
      .map(({ priority }) => priority)
      .sort((a, b) => a - b);
    expect(label.issues.map(({ priority }) => priority)).toEqual(expected);
  });

  it("follows the rows between in a live query", async () => {
    const include = { issues: { orderBy: { priority: "desc" }, take: 1 } } as const;
    const reader = db.labels.watch({ ...bug, include }).getReader();
    expect((await reader.read()).value?.issues[0]?.priority).toBe(49);
    await db.issues.update({ where: { id: "i1" }, data: { priority: 100 } });
    expect((await reader.read()).value?.issues[0]?.priority).toBe(100);
    await reader.cancel();
  });

  it("refuses conditions and orders that no index of the rows between serves", async () => {
    const refused = [
      // @ts-expect-error: no index has the note.
      db.labels.findUnique({ ...bug, include: { issues: { where: { note: "x" } } } }),
      // @ts-expect-error: the title of the issue is no field of the rows between.
      db.labels.findUnique({ ...bug, include: { issues: { orderBy: { title: "asc" } } } }),
      // @ts-expect-error: the relation says which label it is.
      db.labels.findUnique({ ...bug, include: { issues: { where: { labelId: "bug" } } } }),
    ];
    const codes = await Promise.all(refused.map(async (each) => (await rejection(each)).code));
    expect(codes).toEqual(["KW_QUERY_UNINDEXED", "KW_QUERY_INVALID", "KW_ARGUMENT_INVALID"]);
  });
});

describe("_count with conditions", () => {
  it("counts the rows that meet them", async () => {
    const label = await db.labels.findUniqueOrThrow({
      ...bug,
      include: { _count: { issues: { where: { priority: { gte: 40 } } } } },
    });
    const expected = (await db.issues.scan({ take: 100 })).items.filter(
      ({ id, priority }) => Number(id.slice(1)) % 5 !== 0 && priority >= 40,
    );
    expect(label._count.issues).toBe(expected.length);
    const parent = await db.issues.findUniqueOrThrow({
      where: { id: "i0" },
      include: { _count: { children: { where: { priority: 3 } }, labels: true } },
    });
    expect(parent._count).toEqual({ children: 0, labels: 1 });
  });

  it("refuses conditions that no index serves", async () => {
    const count = (issues: unknown) =>
      db.labels.findUnique({ ...bug, include: { _count: { issues } } } as never);
    const byNote = { where: { note: "x" } } as const;
    // @ts-expect-error: no index has the note.
    const typed = db.labels.findUnique({ ...bug, include: { _count: { issues: byNote } } });
    expect((await rejection(typed)).code).toBe("KW_QUERY_UNINDEXED");
    const errors = [count({ take: 1 }), count({ where: { labelId: "x" } }), count(1)];
    for (const each of errors) expect((await rejection(each)).code).toBe("KW_ARGUMENT_INVALID");
  });
});
