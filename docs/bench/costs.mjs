// Prints what `create` and `update` cost on each engine: requests, fsyncs, and bytes on the network
// and in the log of the server. The table is that of docs/scaling.md.
//
//   npm run bench:costs -- --etcd http://127.0.0.1:2379,… --postgres postgres://postgres@127.0.0.1/postgres
//
// Runs on Linux. No other program may use the servers. An engine without a URL is left out. For the
// fsyncs of LevelDB: strace -f -c -e trace=fdatasync,fsync node docs/bench/costs.mjs
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { encodeKey, encodeValue, openKv } from "@keywright/core";
import { etcdEngine } from "@keywright/etcd";
import { postgresEngine } from "@keywright/postgres";
import pg from "pg";
import { countedEngine } from "./counted-engine.mjs";
import { countingProxy } from "./counting-proxy.mjs";
import { openModels, user } from "./models.mjs";

const { values } = parseArgs({
  options: {
    etcd: { type: "string" },
    postgres: { type: "string" },
    rows: { type: "string", default: "2000" },
  },
});
const rows = Number(values.rows);
const prefix = `costs_${process.pid}`;
const folder = await mkdtemp(join(tmpdir(), "keywright-costs-"));

/** The bytes that a process has written to files and sockets, and to disk. */
async function writtenBy(pid) {
  const text = await readFile(`/proc/${pid}/io`, "utf8");
  const [, all, disk] = /wchar: (\d+)[\s\S]*\nwrite_bytes: (\d+)/.exec(text);
  return { all: Number(all), disk: Number(disk) };
}

async function etcdProcess(endpoint) {
  for (const pid of await readdir("/proc")) {
    const command = await readFile(`/proc/${pid}/cmdline`, "latin1").catch(() => "");
    if (/(^|\/)etcd\0/.test(command) && command.includes(endpoint)) return pid;
  }
  throw new Error(`no process of this machine serves ${endpoint}`);
}

/** Each engine: how to open it, and how to read the fsyncs and the bytes on disk of its server. */
const engines = {
  LevelDB: async () => ({
    kv: await openKv(join(folder, "level")),
    read: async () => ({ disk: (await writtenBy("self")).all, fsyncs: Number.NaN }),
  }),
};
if (values.etcd !== undefined) engines.etcd = openEtcd;
if (values.postgres !== undefined) engines.PostgreSQL = openPostgres;

async function openEtcd() {
  const members = values.etcd.split(",");
  const pids = await Promise.all(members.map(etcdProcess));
  const proxies = await Promise.all(
    members.map((member) => countingProxy(new URL(member).hostname, new URL(member).port)),
  );
  const endpoints = proxies.map(({ port }) => `http://127.0.0.1:${port}`);
  const read = async () => {
    const total = { requests: 0, disk: 0, fsyncs: 0, logFsyncs: 0, peers: 0 };
    for (const [i, member] of members.entries()) {
      const metrics = await (await fetch(`${member}/metrics`)).text();
      const sum = (name, labels = "") =>
        [...metrics.matchAll(new RegExp(`^${name}(?:{.*${labels}.*})? (.+)$`, "gm"))]
          .map(([, value]) => Number(value))
          .reduce((a, b) => a + b, 0);
      total.requests += sum("grpc_server_started_total", "etcdserverpb.KV");
      total.logFsyncs += sum("etcd_disk_wal_fsync_duration_seconds_count");
      total.fsyncs +=
        sum("etcd_disk_wal_fsync_duration_seconds_count") +
        sum("etcd_disk_backend_commit_duration_seconds_count");
      total.peers += sum("etcd_network_peer_sent_bytes_total");
      total.disk += (await writtenBy(pids[i])).disk;
    }
    return total;
  };
  return { ...(await openCounted(etcdEngine({ endpoints, prefix }))), proxies, read };
}

async function openPostgres() {
  const url = new URL(values.postgres);
  const proxy = await countingProxy(url.hostname, Number(url.port || 5432));
  url.host = `127.0.0.1:${proxy.port}`;
  const client = new pg.Client({ connectionString: values.postgres });
  await client.connect();
  const read = async () => {
    // A session reports its fsyncs when it has been idle for ten seconds.
    await sleep(11_000);
    const { rows } = await client.query(`
      SELECT pg_current_wal_lsn() - '0/0' AS disk, wal_sync AS fsyncs,
        (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()) AS requests
      FROM pg_stat_wal`);
    const [{ disk, fsyncs, requests }] = rows;
    return { requests: Number(requests), disk: Number(disk), fsyncs: Number(fsyncs) };
  };
  const engine = postgresEngine({ connectionString: url.href, prefix });
  return { ...(await openCounted(engine)), proxies: [proxy], read, end: () => client.end() };
}

async function openCounted(opening) {
  const { engine, counts } = countedEngine(await opening);
  return { kv: await openKv(engine), counts };
}

async function measure({ counts, proxies = [], read }, inFlight, operation) {
  const sum = (kind) => proxies.reduce((total, { bytes }) => total + bytes[kind], 0);
  const state = async () => ({
    ...(await read()),
    ...counts,
    sent: sum("sent"),
    received: sum("received"),
  });
  await operation();
  const before = await state();
  let left = rows;
  const worker = async () => {
    while (left-- > 0) await operation();
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  const after = await state();
  return Object.fromEntries(
    Object.keys(after).map((key) => [key, ((after[key] - before[key]) / rows).toPrecision(3)]),
  );
}

/** Bytes of the keys and values of a user: the row and its index entries. */
async function bytesOfUser(kv) {
  let bytes = 0;
  for (const name of ["users", "users_by_email", "users_by_city"]) {
    for await (const { key, value } of kv.list({ prefix: [name] }, { limit: 1 }))
      bytes += encodeKey(key).length + encodeValue(value).length;
  }
  return bytes;
}

try {
  for (const [name, open] of Object.entries(engines)) {
    const opened = await open();
    const { users } = await openModels(opened.kv);
    let next = 0;
    let city = 0;
    for (const inFlight of [1, 64]) {
      const create = () => users.create({ data: user(next++) });
      const update = () =>
        users.update({ where: { id: city % rows }, data: { city: `town ${city++}` } });
      console.log(name, inFlight, "create", await measure(opened, inFlight, create));
      console.log(name, inFlight, "update", await measure(opened, inFlight, update));
    }
    console.log(`a user has ${await bytesOfUser(opened.kv)} bytes of keys and values`);
    await opened.kv.close();
    for (const proxy of opened.proxies ?? []) proxy.stop();
    await opened.end?.();
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
