import { openKv } from "@keywright/core";
import { ormSuite } from "@keywright/orm/testing";
import { describe, it } from "vitest";
import { etcdEngine } from "../../src/open-etcd.js";
import { describeEtcd, newPrefix } from "../server/shared-cluster.js";

for (const members of [1, 3]) {
  describeEtcd(`the ORM, members: ${members}`, members, (cluster) => {
    ormSuite(
      { describe, it },
      {
        name: "etcd",
        open: async () => {
          const engine = await etcdEngine({ endpoints: cluster().endpoints, prefix: newPrefix() });
          const kv = await openKv(engine);
          return { kv, dispose: () => kv.close() };
        },
      },
    );
  });
}
