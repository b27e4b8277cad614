import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { leaderOf } from "../../packages/etcd/test/faults/faults.mjs";
import { EtcdCluster } from "../../packages/etcd/test/server/etcd-cluster.mjs";
import { startOwner } from "../attached/kill-owner.mjs";
import { hasEtcd, hasPostgres, startPostgres } from "../shared/servers.mjs";

/**
 * How much later than their times rows may expire on a disk, in milliseconds. The time by which they
 * expire stops while commits are written.
 */
const expirySlack = 1000;

/**
 * The places in which transactions are recorded.
 *
 * - `title` follows "histories" in a sentence.
 * - `part` is how large a part of the histories is recorded there, and `atOnce` how many at once.
 * - `connections` is the number of databases that this process opens for one history. With
 *   `isShared`, another process opens as many.
 * - `maxTransactions` is the highest number of transactions of each client. The default is 6.
 * - `start` returns `{ newDatabase, stop }`. `newDatabase` returns `{ where, interrupt, end }`:
 *   where it is, for `openClients`, what is to happen in the middle of the history, if anything,
 *   and how to remove it.
 */
export const places = {
  memory: { title: "in memory", part: 1, start: startInMemory },
  leveldb: {
    title: "on LevelDB",
    part: 1,
    expirySlack,
    connections: 2,
    start: () => startOnDisk("kv"),
  },
  lmdb: {
    title: "on LMDB, in two processes",
    part: 0.1,
    expirySlack,
    isShared: true,
    start: () => startOnDisk("kv.mdb"),
  },
  sqlite: {
    title: "on SQLite, in two processes",
    part: 0.1,
    isInstalled: isBuiltin("node:sqlite"),
    expirySlack,
    isShared: true,
    start: () => startOnDisk("kv.sqlite"),
  },
  attached: {
    title: "in two processes that are attached to a third",
    part: 0.1,
    expirySlack,
    isShared: true,
    start: startAttached,
  },
  "attached-killed": {
    title: "in two processes whose owner is killed",
    part: 0.015,
    expirySlack,
    atOnce: 1,
    isShared: true,
    start: () => startAttached({ isKilled: true }),
  },
  etcd: {
    title: "on etcd",
    part: 0.1,
    connections: 2,
    isShared: true,
    isInstalled: hasEtcd,
    start: startOnEtcd,
  },
  "etcd-killed": {
    title: "on etcd, whose leader is killed",
    part: 0.015,
    atOnce: 1,
    connections: 2,
    isShared: true,
    isInstalled: hasEtcd,
    start: startOnEtcdCluster,
  },
  postgres: {
    title: "on PostgreSQL",
    part: 0.1,
    atOnce: 4,
    connections: 2,
    isShared: true,
    isInstalled: hasPostgres,
    start: startOnPostgres,
  },
  "postgres-killed": {
    title: "on PostgreSQL, which is killed or loses all connections",
    part: 0.015,
    atOnce: 1,
    connections: 2,
    isShared: true,
    isInstalled: hasPostgres,
    start: () => startOnPostgres({ isKilled: true }),
  },
};

/** The longest time until rows expire, in milliseconds. Calls of a server take longer. */
const [shortExpiry, longExpiry] = [12, 60];
/** The deadlines of the calls of two clients. The first is shorter than an election. */
const shortDeadline = 1000;
const longDeadline = 30_000;

async function startInMemory() {
  return {
    newDatabase: async () => ({ where: { maxExpireIn: shortExpiry } }),
    stop: async () => undefined,
  };
}

async function startOnDisk(name) {
  const newDatabase = async () => {
    const folder = await mkdtemp(join(tmpdir(), "keywright-history-"));
    const where = { path: join(folder, name), maxExpireIn: shortExpiry };
    return { where, end: () => rm(folder, { recursive: true }) };
  };
  return { newDatabase, stop: async () => undefined };
}

async function startAttached({ isKilled = false } = {}) {
  const disk = await startOnDisk("kv");
  const newDatabase = async () => {
    const { where, end } = await disk.newDatabase();
    let owner = await startOwner(where.path);
    const stop = async () => {
      owner.kill("SIGKILL");
      await once(owner, "exit");
    };
    return {
      where,
      interrupt: isKilled
        ? async () => {
            await stop();
            owner = await startOwner(where.path);
          }
        : undefined,
      end: async () => {
        await stop();
        await end();
      },
    };
  };
  return { ...disk, newDatabase };
}

async function startOnEtcd() {
  const cluster = await EtcdCluster.start(1);
  await leaderOf(cluster);
  const { endpoints } = cluster;
  return {
    newDatabase: async () => ({
      where: { etcd: { endpoints, prefix: randomUUID() }, maxExpireIn: longExpiry },
    }),
    stop: () => cluster.stop(),
  };
}

async function startOnEtcdCluster() {
  const cluster = await EtcdCluster.start(3);
  const { endpoints } = cluster;
  let killed;
  const newDatabase = async () => {
    killed?.start();
    // The member that was killed has to be there again before another one is.
    await allHealthy(cluster);
    const leader = await leaderOf(cluster);
    const etcd = { endpoints, prefix: randomUUID() };
    const deadlines = [longDeadline, shortDeadline];
    return {
      where: { etcd, deadlines, maxExpireIn: longExpiry },
      interrupt: async () => {
        await leader.stop();
        killed = leader;
      },
    };
  };
  return { newDatabase, stop: () => cluster.stop() };
}

async function allHealthy({ members }) {
  for (const { endpoint } of members) {
    const isHealthy = () =>
      fetch(`${endpoint}/health`, { signal: AbortSignal.timeout(1000) }).then(
        ({ ok }) => ok,
        () => false,
      );
    while (!(await isHealthy())) await sleep(50);
  }
}

async function startOnPostgres({ isKilled = false } = {}) {
  const server = await startPostgres(["fsync=off", "max_connections=300"]);
  let databases = 0;
  const interruptions = [
    async () => {
      await server.kill();
      await server.run();
    },
    async () => {
      await server.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'keywright'",
      );
    },
  ];
  return {
    newDatabase: async () => {
      const number = databases++;
      const postgres = { connectionString: server.url, prefix: `kw_${number}` };
      return {
        where: {
          postgres,
          deadlines: isKilled ? [longDeadline, shortDeadline] : undefined,
          maxExpireIn: longExpiry,
        },
        interrupt: isKilled ? interruptions[number % interruptions.length] : undefined,
        end: () => server.query(`DROP TABLE kw_${number} CASCADE`),
      };
    },
    stop: () => server.remove(),
  };
}
