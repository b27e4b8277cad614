import { openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import { expect, it } from "vitest";
import * as z from "zod";
import { openStudio } from "../open-studio.js";

it("says what it has read at least if rows are not counted", async () => {
  await using kv = await openKv();
  const schema = z.object({ id: z.string(), at: z.number() });
  const Log = defineModel({
    name: "logs",
    schema,
    primaryKey: "id",
    indexes: { byAt: { key: "at" } },
  });
  const db = await createDatabase({ kv, models: { logs: Log } });
  const data = Array.from({ length: 100_500 }, (_, i) => ({ id: `log ${i}`, at: i }));
  for (let i = 0; i < data.length; i += 10_000)
    await db.logs.createMany({ data: data.slice(i, i + 10_000) });
  await using open = await openStudio({ kv, models: { logs: Log } });
  const { rows, indexes } = await open.call("measure", { property: "logs" });
  expect(rows).toMatchObject({ entries: 1000, precision: "minimum" });
  expect(indexes["byAt"]).toMatchObject({ entries: 1000, precision: "minimum" });
});
