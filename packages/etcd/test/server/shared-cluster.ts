import { afterAll, beforeAll, describe } from "vitest";
import { etcdEngine } from "../../src/open-etcd.js";
import { EtcdCluster, type EtcdClusterOptions } from "./etcd-cluster.mjs";
import { hasEtcd } from "./has-etcd.js";

let prefixes = 0;

/** Returns a prefix that no other database of this process has. */
export function newPrefix(): string {
  return `test-${process.pid}-${prefixes++}`;
}

/** Adds tests that share a cluster, which is started before them and stopped after them. */
export function describeEtcd(
  name: string,
  size: number,
  body: (cluster: () => EtcdCluster) => void,
  options: EtcdClusterOptions = {},
): void {
  describe.skipIf(!hasEtcd)(name, () => {
    let cluster: EtcdCluster;
    beforeAll(async () => {
      cluster = await EtcdCluster.start(size, options);
      if (options.protocol !== "https") await ready(cluster);
    });
    afterAll(() => cluster.stop());
    body(() => cluster);
  });
}

/** Waits until the cluster has a leader. */
async function ready({ endpoints }: EtcdCluster): Promise<void> {
  const engine = await etcdEngine({ endpoints, prefix: newPrefix(), deadline: 30_000 });
  await engine.close();
}
