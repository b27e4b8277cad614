import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineMigration, defineModel, migrate } from "../src/index.js";

const from = z.object({ id: z.string(), price: z.number(), unit: z.string().default("kg") });
const to = z.object({ id: z.string(), cents: z.number(), unit: z.string().default("kg") });
const model = (schema: z.ZodObject) =>
  defineModel({ name: "goods", schema: schema as typeof to, primaryKey: "id" });

it("lists a stored row that does not fit the earlier schema as failed, without calling up", async () => {
  const kv = await openKv();
  try {
    const old = await createDatabase({ kv, models: { goods: model(from) } });
    await old.goods.create({ data: { id: "a", price: 2 } as never });
    // Written by hand, or by a program whose schema differed only in a function.
    await kv.set(["goods", "b"], { id: "b", price: "3", unit: "kg" });
    await kv.set(["goods", "c"], { id: "c", price: 4 });
    const calledWith: unknown[] = [];
    const up = ({ price, ...row }: z.output<typeof from>) => {
      calledWith.push({ price, ...row });
      return { ...row, cents: price * 100 };
    };
    const migrations = [defineMigration({ model: model(to), from, to, up })];
    const db = await createDatabase({ kv, models: { goods: model(to) }, migrations });
    await expect(db.goods.findUnique({ where: { id: "b" } })).rejects.toMatchObject({
      code: "KW_ROW_UPGRADE",
      reason:
        "The stored row does not fit its schema. price: Invalid input: expected number, received string",
    });
    const { status, failed } = await migrate(db);
    expect(status).toBe("failed-rows");
    expect(failed).toMatchObject([{ model: "goods", id: "b", issues: [{ path: ["price"] }] }]);
    expect((await kv.get(["goods", "b"])).value).toEqual({ id: "b", price: "3", unit: "kg" });
    expect(await db.goods.findUnique({ where: { id: "a" } })).toEqual({
      id: "a",
      cents: 200,
      unit: "kg",
    });
    expect(calledWith).toContainEqual({ id: "c", price: 4, unit: "kg" });
    expect(calledWith).not.toContainEqual(expect.objectContaining({ id: "b" }));
    await kv.set(["goods", "b"], { id: "b", cents: 300, unit: "kg" });
    expect((await migrate(db)).status).toBe("done");
  } finally {
    await kv.close();
  }
});
