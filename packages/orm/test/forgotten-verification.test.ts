import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel, migrate } from "../src/index.js";

const Plain = defineModel({
  name: "tasks",
  schema: z.object({ id: z.string(), list: z.string() }),
  primaryKey: "id",
});
const Task = defineModel({ ...Plain, indexes: { byList: { key: "list" } } });

it.each(["builds the index without a look at it", "drops the index"] as const)(
  "nothing is left of a verification that was stopped when the next run %s",
  async (next) => {
    const kv = await openKv();
    try {
      const plain = await createDatabase({ kv, models: { tasks: Plain } });
      const data = Array.from({ length: 2000 }, (_, i) => ({ id: `t${i}`, list: `l${i % 9}` }));
      await plain.tasks.createMany({ data });
      const db = await createDatabase({ kv, models: { tasks: Task } });
      const stop = new AbortController();
      const stopped = await migrate(db, {
        signal: stop.signal,
        onProgress: ({ phase, done }) => phase === "verifying" && done > 0 && stop.abort(),
      });
      expect(stopped.status).toBe("stopped");
      const isLeft = async () => {
        const list = kv.list({ prefix: ["__keywright", "verifying"] }, { limit: 1 });
        return (await list.next()).done !== true;
      };
      expect(await isLeft()).toBe(true);
      const ended =
        next === "drops the index"
          ? await migrate(plain, { accept: true })
          : await migrate(db, { verify: false });
      expect(ended.status).toBe("done");
      expect(await isLeft()).toBe(false);
    } finally {
      await kv.close();
    }
  },
);
