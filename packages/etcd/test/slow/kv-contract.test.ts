import { openKv } from "@keywright/core";
import { kvContract } from "@keywright/core/testing";
import { describe, it } from "vitest";
import { etcdEngine } from "../../src/open-etcd.js";
import { describeEtcd, newPrefix } from "../server/shared-cluster.js";

describeEtcd("a database on one member", 1, (cluster) => {
  kvContract(
    { describe, it },
    {
      name: "Kv on etcd",
      capabilities: ["reopen"],
      create: async () => {
        const prefix = newPrefix();
        const open = async () =>
          await openKv(await etcdEngine({ endpoints: cluster().endpoints, prefix }));
        let kv = await open();
        return {
          kv,
          reopen: async () => {
            await kv.close();
            kv = await open();
            return kv;
          },
          dispose: () => kv.close(),
        };
      },
    },
  );
});
