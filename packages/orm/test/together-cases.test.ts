import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createDatabase } from "../src/index.js";
import { models } from "./together-models.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(async () => {
  for (const model of Object.values(models)) await expectIndexesToMatch(kv, model);
  await kv.close();
});

it("connects rows again whose row between is marked, if both references share a field", async () => {
  const { customers, customerTags } = (await createDatabase({ kv, models })).scope({ tenant: "a" });
  const where = { id: "ada" };
  const math = { name: "math" };
  await customers.create({ data: { ...where, email: "e1", score: 1, tags: { create: math } } });
  const include = { tags: true } as const;
  const update = (tags: object) => customers.update({ where, data: { tags }, include });
  const names = async (tags: object) => (await update(tags)).tags.map(({ name }) => name);
  for (const connected of [{ connect: math }, { set: [math] }]) {
    expect(await names({ disconnect: math })).toEqual([]);
    expect(await names(connected)).toEqual(["math"]);
  }
  await update({ set: [] });
  const connectOrCreate = { where: math, create: math };
  expect(await names({ connectOrCreate })).toEqual(["math"]);
  expect((await customerTags.scan({ withDeleted: true })).items).toHaveLength(1);
});

it("a hook within a purge neither sees marked rows nor removes rows", async () => {
  const results: unknown[] = [];
  const db = await createDatabase({
    kv,
    models,
    hooks: {
      profiles: {
        duringUpdate: async ({ tenant }, _before, { tx }) => {
          const of = (id: string) => ({ where: { tenant, id } });
          results.push(await tx.customers.findUnique(of("ada")));
          results.push((await tx.customers.findMany({ where: { tenant, score: 1 } })).items.length);
          await tx.customers.delete(of("bob"));
          results.push((await tx.customers.findUnique({ ...of("bob"), withDeleted: true }))?.id);
          results.push((await tx.customers.delete(of("ada")).catch((error) => error)).code);
        },
      },
    },
  });
  const { customers, profiles } = db.scope({ tenant: "a" });
  const where = { id: "ada" };
  await customers.create({ data: { id: "bob", email: "e2", score: 1 } });
  await customers.create({
    data: { ...where, email: "e1", score: 1, profile: { create: { id: "p" } } },
  });
  await customers.delete({ where });
  await customers.purge({ where });
  expect(results).toEqual([null, 1, "bob", "KW_ROW_NOT_FOUND"]);
  expect((await customers.restore({ where: { id: "bob" } })).id).toBe("bob");
  expect((await profiles.scan()).items).toEqual([{ tenant: "a", id: "p", customerId: null }]);
});

it("a hook of a call within a scope is within it, and may write models outside", async () => {
  const results: unknown[] = [];
  const db = await createDatabase({
    kv,
    models,
    hooks: {
      orders: {
        duringCreate: async (_row, { tx }) => {
          const foreign = { tenant: "b", id: "bob" };
          const code = (error: { readonly code: string }) => error.code;
          results.push(await tx.customers.count());
          results.push(await tx.customers.findUnique({ where: foreign }).catch(code));
          await tx.audit.create({ data: { what: "order", details: { create: [{}, {}] } } });
        },
      },
    },
  });
  await db.customers.create({ data: { tenant: "b", id: "bob", email: "e1", score: 1 } });
  const a = db.scope({ tenant: "a" });
  await a.orders.create({ data: { id: "o", amount: 1 } });
  expect(results).toEqual([0, "KW_SCOPE"]);
  expect(await db.auditDetails.scan()).toMatchObject({ items: [{}, {}] });
});
