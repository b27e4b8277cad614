import type { AtomicWrite, Engine } from "@keywright/core";
import { engineContract } from "@keywright/core/testing";
import { describe, it } from "vitest";
import { etcdEngine } from "../../src/open-etcd.js";
import { describeEtcd, newPrefix } from "../server/shared-cluster.js";

describeEtcd("the engine on one member", 1, (cluster) => {
  const open = (prefix: string) => etcdEngine({ endpoints: cluster().endpoints, prefix });

  engineContract(
    { describe, it },
    {
      name: "EtcdEngine",
      capabilities: ["shared", "views", "rangeChecks", "log", "sharedLog"],
      create: async () => {
        const prefix = newPrefix();
        return { open: () => open(prefix) };
      },
    },
  );

  engineContract(
    {
      describe: (name, define) => {
        if (/: (range checks|openView)$/.test(name)) describe(name, define);
      },
      it,
    },
    {
      name: "EtcdEngine, with each commit by another process than the last",
      capabilities: ["views", "rangeChecks"],
      create: async () => {
        const prefix = newPrefix();
        return { open: async () => taking(await open(prefix), await open(prefix)) };
      },
    },
  );
});

/** Returns an engine whose commits are made by two others in turn. */
function taking(first: Engine, second: Engine): Engine {
  let isSecond = false;
  const own: Partial<Engine> = {
    commit(writes: readonly AtomicWrite[]) {
      isSecond = !isSecond;
      return (isSecond ? second : first).commit(writes);
    },
    async close() {
      await first.close();
      await second.close();
    },
  };
  return new Proxy(first, {
    get(_, name) {
      const value = Reflect.get(own, name) ?? Reflect.get(first, name, first);
      return typeof value === "function" && !(name in own) ? value.bind(first) : value;
    },
  });
}
