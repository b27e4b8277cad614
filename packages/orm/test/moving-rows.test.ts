import {
  type EmbeddedKv,
  type Kv,
  type KvListOptions,
  type KvListSelector,
  openKv,
} from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel } from "../src/index.js";
import { withoutViews } from "./faulty-kv.js";

const Task = defineModel({
  name: "tasks",
  schema: z.object({ id: z.string(), state: z.string(), title: z.string() }),
  primaryKey: "id",
  indexes: { byState: { key: "state", include: ["title"] } },
  live: true,
});

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

/** A database that calls `interfere` before it reads a range with `part` in its prefix. */
function interferingList(kv: EmbeddedKv, part: string, interfere: () => Promise<void>): Kv {
  const target = withoutViews(kv);
  return new Proxy(target, {
    get(_, property) {
      const member: unknown = Reflect.get(target, property, target);
      if (property !== "list") return typeof member === "function" ? member.bind(target) : member;
      return (selector: KvListSelector, options?: KvListOptions) => {
        const list = target.list(selector, options);
        if (!JSON.stringify(selector).includes(part)) return list;
        let changed: ReturnType<typeof target.list> | undefined;
        return {
          next: async () => {
            if (changed === undefined) await interfere();
            changed ??= target.list(selector, options);
            return await changed.next();
          },
        };
      };
    },
  });
}

const query = {
  where: { state: { in: ["doing", "open"] } },
  select: { id: true, state: true },
} as const;

it("a row that moves while a query reads its index is returned once, at its later place", async () => {
  const db = await createDatabase({ kv, models: { tasks: Task } });
  await db.tasks.create({ data: { id: "a", state: "doing", title: "t" } });
  let moved = 0;
  const moving = interferingList(kv, "open", async () => {
    if (moved++ > 0) return;
    await db.tasks.update({ where: { id: "a" }, data: { state: "open" } });
  });
  const other = await createDatabase({ kv: moving, models: { tasks: Task } });
  const { items } = await other.tasks.findMany(query);
  expect(moved).toBeGreaterThan(0);
  expect(items).toEqual([{ id: "a", state: "open" }]);
});
