import type { Gate } from "./gate.mjs";

export interface EtcdMember {
  readonly name: string;
  readonly endpoint: string;
  /** The end of what the process has printed. */
  readonly log: string;
  start(): void;
  /** Sends a signal, such as `SIGSTOP`. */
  signal(signal: NodeJS.Signals): void;
  /** Ends the process and waits until it has ended. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface EtcdClusterOptions {
  /** Further arguments of each member. */
  readonly args?: readonly string[];
  /** True to write to disk as in production. By default nothing is synced, to save time. */
  readonly sync?: boolean;
  readonly protocol?: "http" | "https";
  /** True to start gates that can divide the network. */
  readonly isDivisible?: boolean;
}

/** A cluster of etcd on free ports of this machine, with its data in a scratch folder. */
export class EtcdCluster {
  readonly members: readonly EtcdMember[];
  readonly endpoints: readonly string[];
  /** One in front of each member, for the clients and for the other members, if it is divisible. */
  readonly gates: { readonly clients: readonly Gate[]; readonly peers: readonly Gate[] };
  static start(size: number, options?: EtcdClusterOptions): Promise<EtcdCluster>;
  /** Ends all members and removes the folder. */
  stop(): Promise<void>;
}
