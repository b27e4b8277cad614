import { fileURLToPath } from "node:url";
import { EngineUnavailableError, type Kv, openKv } from "@keywright/core";

/** A database, and what the program says about it. */
export interface OpenDatabase {
  readonly kv: Kv;
  readonly description: string;
}

const defaultPath = fileURLToPath(new URL("../data", import.meta.url));
const defaultEndpoint = "http://127.0.0.1:2379";
const defaultUrl = "postgres://postgres@127.0.0.1:5432/postgres";

/** Opens a database on each engine. Everything else in this program is the same on all engines. */
const engines = {
  memory: async () => ({ kv: await openKv(), description: "in memory, gone at the end" }),

  leveldb: async (path = defaultPath) => ({
    kv: await openKv(path),
    description: `${path} (delete this folder to start over)`,
  }),

  sqlite: async (path = `${defaultPath}.sqlite`) => {
    const { sqliteEngine } = await import("@keywright/sqlite");
    return {
      kv: await openKv(await sqliteEngine({ path })),
      description: `${path} (delete this file to start over)`,
    };
  },

  etcd: async (endpoints = defaultEndpoint) => {
    const { etcdEngine } = await import("@keywright/etcd");
    const options = { endpoints: endpoints.split(","), prefix: "cities" };
    await assertRunning(`etcd at ${endpoints}`, startEtcd, () =>
      etcdEngine({ ...options, deadline: openingTime }),
    );
    return {
      kv: await openKv(await etcdEngine(options)),
      description: `etcd at ${endpoints} (to start over: etcdctl del --prefix cities)`,
    };
  },

  postgres: async (connectionString = defaultUrl) => {
    const { postgresEngine } = await import("@keywright/postgres");
    const options = { connectionString, prefix: "cities" };
    await assertRunning("PostgreSQL server", startPostgres, () =>
      postgresEngine({ ...options, deadline: openingTime }),
    );
    return {
      kv: await openKv(await postgresEngine(options)),
      description: "PostgreSQL (to start over: DROP TABLE cities)",
    };
  },
} satisfies Record<string, (place?: string) => Promise<OpenDatabase>>;

export type EngineName = keyof typeof engines;

export const engineNames = Object.keys(engines) as readonly EngineName[];

/**
 * Opens the database on an engine.
 *
 * @param place a path for LevelDB and SQLite, URLs for etcd, a URL for PostgreSQL.
 * @throws {ServerMissingError} if no server answers.
 */
export async function openDatabase(engine: EngineName, place?: string): Promise<OpenDatabase> {
  return await engines[engine](place);
}

/** No server answers. The message says how to start one. */
export class ServerMissingError extends Error {}

const openingTime = 2000;

const startEtcd = `etcd --data-dir data-etcd
On Debian: apt-get install etcd-server`;

const startPostgres = `initdb -D data-postgres -U postgres -A trust && postgres -D data-postgres -k /tmp
On Debian: apt-get install postgresql; the programs are in /usr/lib/postgresql/15/bin`;

async function assertRunning(
  name: string,
  command: string,
  open: () => Promise<{ close(): Promise<void> }>,
): Promise<void> {
  try {
    await (await open()).close();
  } catch (error) {
    if (!(error instanceof EngineUnavailableError)) throw error;
    const text = `No ${name} answers. To start one, in another terminal:\n  ${command}`;
    throw new ServerMissingError(text, { cause: error });
  }
}
