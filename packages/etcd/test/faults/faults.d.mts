import type { EtcdCluster } from "../server/etcd-cluster.mjs";

/** Waits until the cluster has a leader. */
export declare function leaderOf(cluster: EtcdCluster): Promise<EtcdCluster["members"][number]>;
