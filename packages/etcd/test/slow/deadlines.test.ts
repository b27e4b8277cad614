import { openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import { expect, it } from "vitest";
import * as z from "zod";
import { etcdEngine } from "../../src/open-etcd.js";
import { LossyProxy } from "../server/lossy-proxy.js";
import { describeEtcd, newPrefix } from "../server/shared-cluster.js";

const Account = defineModel({
  name: "accounts",
  schema: z.object({ id: z.string(), balance: z.int() }),
  primaryKey: "id",
});

describeEtcd("a transaction whose member does not answer", 1, (cluster) => {
  it("ends when its signal is aborted, long before the deadline of the request", async () => {
    const proxy = await LossyProxy.start(cluster().endpoints[0]!);
    try {
      const options = { endpoints: [proxy.endpoint], prefix: newPrefix(), deadline: 60_000 };
      await using kv = await openKv(await etcdEngine(options));
      const db = await createDatabase({ kv, models: { accounts: Account } });
      await db.accounts.create({ data: { id: "ada", balance: 1 } });
      const where = { id: "ada" };
      const transfer = (signal: AbortSignal) =>
        db.transaction((tx) => tx.accounts.update({ where, data: { balance: { increment: 1 } } }), {
          signal,
        });
      proxy.beSilent(true);
      const failure = await transfer(AbortSignal.timeout(200)).catch((error: unknown) => error);
      expect(failure).toMatchObject({ name: "TimeoutError" });
      proxy.beSilent(false);
      expect(await db.accounts.findUnique({ where })).toEqual({ id: "ada", balance: 1 });
    } finally {
      await proxy.stop();
    }
  });
});
