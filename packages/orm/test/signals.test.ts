import { getEventListeners } from "node:events";
import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel } from "../src/index.js";
import { denoKv } from "./faulty-kv.js";
import { rejection } from "./user-model.js";

const Task = defineModel({
  name: "tasks",
  schema: z.object({ id: z.int(), list: z.string() }),
  primaryKey: "id",
  count: true,
  indexes: { byList: { key: "list", count: true } },
  live: true,
});

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

async function open(on = (own: EmbeddedKv) => own as Parameters<typeof denoKv>[0]) {
  const db = await createDatabase({ kv: on(kv), models: { tasks: Task } });
  await db.tasks.createMany({
    data: Array.from({ length: 600 }, (_, id) => ({ id, list: `l${id % 2}` })),
  });
  return db;
}

describe.each([
  ["an embedded database", undefined],
  ["a database with Deno's limits", denoKv],
] as const)("a live query on %s", (_, wrap) => {
  it("ends quietly when its signal is aborted, while somebody waits, and before it is read", async () => {
    const db = await open(wrap);
    const query = { where: { list: "l1" }, take: 2 } as const;
    const streams = (signal: AbortSignal) => [
      db.tasks.watchMany({ ...query, signal }),
      db.tasks.watch({ where: { id: 1 }, signal }),
    ];
    for (let i = 0; i < 2; i++) {
      const controller = new AbortController();
      const { signal } = controller;
      const stream = streams(signal)[i]!;
      let reports = 0;
      const loop = (async () => {
        for await (const _report of stream) {
          reports++;
          // The loop waits for the next report by then.
          setImmediate(() => controller.abort());
        }
      })();
      await loop;
      expect(reports).toBe(1);
      expect(getEventListeners(signal, "abort")).toEqual([]);
      const late = await streams(signal)[i]!.getReader().read();
      expect(late.done).toBe(true);
    }
  });

  it("ends when it is cancelled within the loop or by the side of a reader", async () => {
    const db = await open(wrap);
    const { signal } = new AbortController();
    const stream = db.tasks.watch({ where: { id: 1 }, signal });
    const reports: unknown[] = [];
    for await (const report of stream) {
      reports.push(report);
      await stream.cancel();
    }
    expect(reports).toEqual([{ id: 1, list: "l1" }]);
    const other = db.tasks.watch({ where: { id: 1 }, signal });
    const reader = other.getReader();
    await reader.read();
    const next = reader.read();
    await other.cancel();
    expect((await next).done).toBe(true);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});

describe("a read", () => {
  it("throws the reason of its signal, and reads no further", async () => {
    const db = await open();
    const reason = new Error("nobody waits for it");
    const aborted = AbortSignal.abort(reason);
    const calls = [
      () => db.tasks.findUnique({ where: { id: 1 }, signal: aborted }),
      () => db.tasks.findFirst({ where: { list: "l1" }, signal: aborted }),
      () => db.tasks.findMany({ where: { list: "l1" }, signal: aborted }),
      () => db.tasks.scan({ signal: aborted }),
      () => db.tasks.count({ signal: aborted }),
      () => db.tasks.exists({ where: { list: "l1" }, signal: aborted }),
      () => db.tasks.aggregate({ count: true, signal: aborted }),
      () => db.tasks.groupBy({ by: ["list"], count: true, signal: aborted }),
      () => db.tasks.distinct({ field: "list", signal: aborted }),
    ];
    for (const call of calls) expect(await rejection(call())).toBe(reason);

    const controller = new AbortController();
    let tested = 0;
    const filter = () => {
      if (++tested === 10) controller.abort(reason);
      return false;
    };
    const { signal } = controller;
    expect(await rejection(db.tasks.scan({ filter, signal }))).toBe(reason);
    expect(tested).toBeLessThan(600);
  });

  it("row by row stops after the row during which its signal is aborted", async () => {
    const db = await open();
    const controller = new AbortController();
    let rows = 0;
    const loop = async () => {
      for await (const _row of db.tasks.scan({ signal: controller.signal })) {
        if (++rows === 3) controller.abort();
      }
    };
    expect((await rejection(loop())).name).toBe("AbortError");
    expect(rows).toBe(3);
  });

  it("refuses what is no signal, and writes take none", async () => {
    const db = await open();
    const argument = { argument: "signal" };
    const signal = AbortSignal.abort();
    // @ts-expect-error: a controller is no signal.
    expect(await rejection(db.tasks.count({ signal: new AbortController() }))).toMatchObject(
      argument,
    );
    // @ts-expect-error: a write would be done in part.
    expect(await rejection(db.tasks.deleteMany({ where: { list: "l1" }, signal }))).toMatchObject(
      argument,
    );
  });
});
