// A worker with a Durable Object that runs the contracts of engines and of databases, and works
// with models. Each test has the tables of the object for itself, which are dropped after it.

import { DurableObject } from "cloudflare:workers";
import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { openKv } from "@keywright/core";
import { engineContract, kvContract } from "@keywright/core/testing";
import { createDatabase, defineModel, migrate } from "@keywright/orm";
import { durableObjectEngine } from "@keywright/sqlite/durable-object";
import * as z from "zod";

const patience = 20_000;

export class Store extends DurableObject {
  async fetch() {
    const { storage } = this.ctx;
    const tests = [];
    const names = [];
    const runner = {
      describe: (name, body) => {
        names.push(name);
        body();
        names.pop();
      },
      it: (name, body) => tests.push({ name: [...names, name].join(" > "), body }),
    };
    runner.it.skip = (name) => tests.push({ name: [...names, name].join(" > ") });
    const remove = async () => {
      storage.sql.exec("DROP TABLE entries");
      storage.sql.exec("DROP TABLE commits");
    };
    engineContract(runner, {
      name: "DurableObjectEngine",
      create: async () => ({ open: async () => durableObjectEngine(storage), remove }),
    });
    kvContract(runner, {
      name: "a Durable Object",
      capabilities: ["reopen"],
      create: async () => {
        let kv = await openKv(durableObjectEngine(storage));
        return {
          kv,
          reopen: async () => {
            await kv.close();
            kv = await openKv(durableObjectEngine(storage));
            return kv;
          },
          dispose: async () => {
            await kv.close();
            await remove();
          },
        };
      },
    });
    runner.describe("models", () => {
      runner.it(
        "have unique keys, transactions and migrations, also after the object was opened again",
        async () => {
          await worksWithModels(storage);
          await remove();
        },
      );
    });
    runner.describe("the tables", () => {
      runner.it("of another program are refused", async () => {
        storage.sql.exec("CREATE TABLE entries (id INTEGER)");
        assert.throws(() => durableObjectEngine(storage), { code: "KW_DATABASE_FORMAT" });
        storage.sql.exec("DROP TABLE entries");
      });
    });
    return Response.json(await runAll(tests));
  }
}

const userModel = (indexes) =>
  defineModel({
    name: "users",
    schema: z.object({ id: z.int(), email: z.email(), points: z.int() }),
    primaryKey: "id",
    indexes: { byEmail: { key: "email", unique: true }, ...indexes },
  });

async function worksWithModels(storage) {
  const open = async (indexes) => {
    const kv = await openKv(durableObjectEngine(storage));
    return { kv, db: await createDatabase({ kv, models: { users: userModel(indexes) } }) };
  };
  const first = await open({});
  const data = Array.from({ length: 500 }, (_, id) => ({ id, email: `${id}@a.com`, points: id }));
  await first.db.users.createMany({ data });
  const twice = first.db.users.create({ data: { id: 501, email: "7@a.com", points: 0 } });
  await assert.rejects(twice, { code: "KW_UNIQUE_CONSTRAINT" });
  await first.db.transaction(async (tx) => {
    await tx.users.update({ where: { id: 1 }, data: { points: 1000 } });
    await tx.users.delete({ where: { id: 2 } });
  });
  await first.kv.close();
  const { kv, db } = await open({ byPoints: { key: "points" } });
  assert.equal((await migrate(db)).status, "done");
  const { items } = await db.users.findMany({ where: { points: { gte: 499 } } });
  assert.deepEqual(
    items.map(({ id }) => id),
    [499, 1],
  );
  assert.equal(await db.users.findUnique({ where: { email: "2@a.com" } }), null);
  await kv.close();
}

async function runAll(tests) {
  const results = { passed: 0, skipped: 0, failures: [] };
  for (const { name, body } of tests) {
    if (body === undefined) {
      results.skipped++;
      continue;
    }
    try {
      await Promise.race([body(), timeout()]);
      results.passed++;
    } catch (error) {
      results.failures.push(`${name}: ${error?.stack ?? error}`);
    }
  }
  return results;
}

async function timeout() {
  await setTimeout(patience);
  throw new Error(`The test has not ended after ${patience} milliseconds.`);
}

export default {
  fetch: (request, { STORE }) => STORE.get(STORE.idFromName("tests")).fetch(request),
};
