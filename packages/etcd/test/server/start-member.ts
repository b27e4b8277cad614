import type { TestProject } from "vitest/node";
import { EtcdCluster } from "./etcd-cluster.mjs";

declare module "vitest" {
  interface ProvidedContext {
    /** The endpoint of one member for all tests. */
    etcdEndpoints: readonly string[];
  }
}

/** Starts a cluster of one member for all tests. */
export default async function startMember(project: TestProject): Promise<() => Promise<void>> {
  const cluster = await EtcdCluster.start(1);
  project.provide("etcdEndpoints", cluster.endpoints);
  return () => cluster.stop();
}
