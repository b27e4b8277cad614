// Plain JavaScript, because the tests, the script of the faults and the benchmark all use it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Gate } from "./gate.mjs";

/** One etcd process. It keeps its data and its ports while it is stopped. */
class EtcdMember {
  #process;

  constructor(name, endpoint, args) {
    this.name = name;
    this.endpoint = endpoint;
    this.args = args;
    this.log = "";
  }

  start() {
    const child = spawn("etcd", this.args, { stdio: ["ignore", "ignore", "pipe"] });
    child.stderr.on("data", (text) => {
      this.log = (this.log + text).slice(-10_000);
    });
    this.#process = child;
    endWithThisProcess(child);
  }

  signal(signal) {
    this.#process?.kill(signal);
  }

  async stop(signal = "SIGKILL") {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }
}

export class EtcdCluster {
  #folder;

  constructor(folder, members, gates) {
    this.#folder = folder;
    this.members = members;
    this.gates = gates;
    const { clients } = gates;
    this.endpoints = members.map(({ endpoint }, index) =>
      clients.length === 0 ? endpoint : `http://127.0.0.1:${clients[index].port}`,
    );
  }

  static async start(
    size,
    { args = [], sync = false, protocol = "http", isDivisible = false } = {},
  ) {
    const folder = await mkdtemp(join(tmpdir(), "keywright-etcd-"));
    const ports = await freePorts(2 * size);
    const gatesOf = (targets) => Promise.all(isDivisible ? targets.map(Gate.start) : []);
    const gates = {
      clients: await gatesOf(ports.slice(0, size)),
      peers: await gatesOf(ports.slice(size)),
    };
    const listenOf = (index) => `http://127.0.0.1:${ports[size + index]}`;
    const peerOf = (index) =>
      isDivisible ? `http://127.0.0.1:${gates.peers[index].port}` : listenOf(index);
    const names = Array.from({ length: size }, (_, index) => `m${index}`);
    const cluster = names.map((name, index) => `${name}=${peerOf(index)}`).join(",");
    const members = names.map((name, index) => {
      const client = `${protocol}://127.0.0.1:${ports[index]}`;
      return new EtcdMember(name, client, [
        ...["--name", name, "--data-dir", join(folder, name)],
        ...["--listen-client-urls", client, "--advertise-client-urls", client],
        ...["--listen-peer-urls", listenOf(index), "--initial-advertise-peer-urls", peerOf(index)],
        ...["--initial-cluster", cluster, "--initial-cluster-state", "new"],
        ...["--logger", "zap", "--log-level", "warn"],
        ...(sync ? [] : ["--unsafe-no-fsync"]),
        ...args,
      ]);
    });
    for (const member of members) member.start();
    return new EtcdCluster(folder, members, gates);
  }

  async stop() {
    await Promise.all(this.members.map((member) => member.stop()));
    await Promise.all(
      Object.values(this.gates).flatMap((gates) => gates.map((gate) => gate.stop())),
    );
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Kills a server if this process is killed before it can stop the server. */
function endWithThisProcess(server) {
  // The end of this process closes the pipe, and then `read` returns.
  const command = 'read -r _; kill -9 "$0"';
  const watcher = spawn("sh", ["-c", command, server.pid], { stdio: ["pipe", "ignore", "ignore"] });
  server.once("exit", () => watcher.kill());
}

async function freePorts(count) {
  const servers = [];
  for (let i = 0; i < count; i++) {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    servers.push(server);
  }
  const ports = servers.map((server) => server.address().port);
  for (const server of servers) {
    server.close();
    await once(server, "close");
  }
  return ports;
}
