import { engineContract } from "@keywright/core/testing";
import { describe, it } from "vitest";
import { etcdEngine } from "../../src/open-etcd.js";
import { describeEtcd, newPrefix } from "../server/shared-cluster.js";

describeEtcd("the engine on one member", 1, (cluster) => {
  engineContract(
    { describe, it },
    {
      name: "EtcdEngine",
      capabilities: ["shared", "views"],
      create: async () => {
        const prefix = newPrefix();
        return { open: () => etcdEngine({ endpoints: cluster().endpoints, prefix }) };
      },
    },
  );
});
