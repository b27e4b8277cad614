import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** One etcd process with a scratch folder. It keeps its data and its ports while it is stopped. */
class EtcdServer {
  readonly name: string;
  readonly #folder: string;
  readonly #args: readonly string[];
  readonly clientPort: number;
  #process: ChildProcess | undefined;
  #log = "";

  constructor(name: string, folder: string, clientPort: number, args: readonly string[]) {
    this.name = name;
    this.#folder = folder;
    this.clientPort = clientPort;
    this.#args = args;
  }

  get log(): string {
    return this.#log;
  }

  start(): void {
    const args = [...this.#args, "--name", this.name, "--data-dir", join(this.#folder, this.name)];
    const child = spawn("etcd", args, { stdio: ["ignore", "ignore", "pipe"] });
    child.stderr.on("data", (text) => {
      this.#log = (this.#log + text).slice(-10_000);
    });
    this.#process = child;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.kill(signal);
  }

  /** Ends the process and waits until it has ended. */
  async stop(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    // A paused process gets only SIGKILL.
    if (signal !== "SIGKILL") child.kill("SIGCONT");
    await ended;
  }
}

export interface EtcdClusterOptions {
  /** Further arguments of each member. */
  readonly args?: readonly string[];
  /** True to write to disk as in production. By default nothing is synced, to save time. */
  readonly sync?: boolean;
  readonly protocol?: "http" | "https";
}

/** A cluster of etcd on free ports of this machine, in a scratch folder. */
export class EtcdCluster {
  readonly members: readonly EtcdServer[];
  readonly endpoints: readonly string[];
  readonly #folder: string;

  private constructor(folder: string, members: readonly EtcdServer[], protocol: string) {
    this.#folder = folder;
    this.members = members;
    this.endpoints = members.map(({ clientPort }) => `${protocol}://127.0.0.1:${clientPort}`);
  }

  static async start(size: number, options: EtcdClusterOptions = {}): Promise<EtcdCluster> {
    const folder = await mkdtemp(join(tmpdir(), "keywright-etcd-"));
    const { args = [], sync = false, protocol = "http" } = options;
    const ports = await freePorts(2 * size);
    const names = Array.from({ length: size }, (_, index) => `m${index}`);
    const peers = names.map((name, index) => `${name}=http://127.0.0.1:${ports[size + index]}`);
    const members = names.map((name, index) => {
      const client = `${protocol}://127.0.0.1:${ports[index]}`;
      const peer = `http://127.0.0.1:${ports[size + index]}`;
      return new EtcdServer(name, folder, ports[index]!, [
        ...["--listen-client-urls", client, "--advertise-client-urls", client],
        ...["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer],
        ...["--initial-cluster", peers.join(","), "--initial-cluster-state", "new"],
        ...["--logger", "zap", "--log-level", "warn"],
        ...(sync ? [] : ["--unsafe-no-fsync"]),
        ...args,
      ]);
    });
    for (const member of members) member.start();
    return new EtcdCluster(folder, members, protocol);
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.stop()));
    await rm(this.#folder, { recursive: true, force: true });
  }
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, "127.0.0.1");
      await once(server, "listening");
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(
    servers.map((server) => {
      server.close();
      return once(server, "close");
    }),
  );
  return ports;
}
