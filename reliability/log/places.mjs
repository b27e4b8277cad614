import { randomUUID } from "node:crypto";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { EtcdCluster } from "../../packages/etcd/test/server/etcd-cluster.mjs";
import { hasEtcd, hasPostgres, startPostgres } from "../shared/servers.mjs";

/**
 * The engines on which the log is tested. `start` returns `{ newWhere, stop }`: `newWhere` returns
 * where a new database is, for `openDatabase`. `combines` is true where the log has the operand of
 * a `sum` and not its result.
 */
export const places = {
  leveldb: { title: "LevelDB", start: () => startOnDisk("kv") },
  lmdb: { title: "LMDB", start: () => startOnDisk("kv.mdb") },
  sqlite: {
    title: "SQLite",
    isInstalled: isBuiltin("node:sqlite"),
    start: () => startOnDisk("kv.sqlite"),
  },
  etcd: { title: "etcd", isInstalled: hasEtcd, combines: true, start: startOnEtcd },
  postgres: {
    title: "PostgreSQL",
    isInstalled: hasPostgres,
    combines: true,
    start: startOnPostgres,
  },
};

async function startOnDisk(name) {
  let databases = 0;
  return {
    newWhere: (folder) => join(folder, `${databases++}-${name}`),
    stop: async () => undefined,
  };
}

async function startOnEtcd() {
  const cluster = await EtcdCluster.start(1);
  const { endpoints } = cluster;
  return {
    newWhere: () => ({ etcd: { endpoints, prefix: randomUUID() } }),
    stop: () => cluster.stop(),
  };
}

async function startOnPostgres() {
  const server = await startPostgres(["fsync=off", "max_connections=300"]);
  let databases = 0;
  return {
    newWhere: () => ({
      postgres: { connectionString: server.url, prefix: `kw_${databases++}` },
    }),
    stop: () => server.remove(),
  };
}
