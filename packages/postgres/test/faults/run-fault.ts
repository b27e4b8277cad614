import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type EmbeddedKv, openKv } from "@keywright/core";
import pg from "pg";
import { postgresEngine } from "../../src/index.js";
import type { PostgresServer } from "../server/postgres-server.js";
import { History, type Kind } from "./history.js";

/** The settings of a server for faults. */
export const faultSettings: readonly string[] = ["fsync=off", "max_connections=30"];
let prefixes = 0;
const worker = fileURLToPath(new URL("../work-in-process.mjs", import.meta.url));

interface Cluster {
  readonly primary: PostgresServer;
  /** A synchronous standby of the primary: it has every commit that a client knows of. */
  readonly standby: PostgresServer | undefined;
  readonly history: History;
  /** The table that the writers use. */
  readonly prefix: string;
}

interface Fault {
  readonly hasStandby?: boolean;
  readonly run: (cluster: Cluster) => Promise<void>;
}

/** What happens to a server while 16 writers use it. */
export const faults: Readonly<Record<string, Fault>> = {
  "server killed and started again": {
    run: async ({ primary }) => {
      await primary.kill();
      await primary.run();
    },
  },
  "server paused for a second": {
    run: async ({ primary }) => {
      primary.signal("SIGSTOP");
      await sleep(1000);
      primary.signal("SIGCONT");
    },
  },
  "all connections of the server taken for a second": {
    run: async ({ primary }) => {
      const taken = await takeConnections(primary);
      while (await endSessions(taken[0]!)) taken.push(...(await takeConnections(primary)));
      await sleep(1000);
      for (const client of taken) await client.end();
    },
  },
  "all sessions ended, 20 times": {
    run: async ({ primary }) => {
      const client = new pg.Client({ connectionString: primary.url });
      await client.connect();
      for (let i = 0; i < 20; i++) {
        await endSessions(client);
        await sleep(20);
      }
      await client.end();
    },
  },
  "three clients killed in mid-batch": {
    run: async (cluster) => {
      for (let i = 0; i < 3; i++) await killClient(cluster, i);
    },
  },
  // The last one, because the primary is not started again.
  "primary killed, standby promoted": {
    hasStandby: true,
    run: async ({ primary, standby }) => {
      await primary.kill();
      await standby!.promote();
    },
  },
};

export interface FaultRun {
  readonly commits: number;
  /** The longest time without a commit, in milliseconds. */
  readonly longestGap: number;
  /** How many calls failed, by the code of the error. */
  readonly errors: Readonly<Record<string, number>>;
  readonly contradictions: readonly Kind[];
}

/**
 * Runs 16 writers of two engines in a new table, and a fault in the middle. Checks their history.
 */
export async function runFault(name: string, primary: PostgresServer): Promise<FaultRun> {
  const prefix = `faults_${prefixes++}`;
  const databases: EmbeddedKv[] = [];
  const { hasStandby = false, run } = faults[name]!;
  const standby = hasStandby ? await primary.startStandby() : undefined;
  try {
    if (standby !== undefined) {
      await primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
      await primary.query("SELECT pg_reload_conf()");
    }
    const hosts = [primary, ...(standby ? [standby] : [])].map(({ address }) => address).join();
    for (let i = 0; i < 2; i++) {
      const connectionString = `postgres://keywright@${hosts}/postgres`;
      const engine = await postgresEngine({ connectionString, prefix, maxConnections: 4 });
      databases.push(await openKv(engine));
    }
    const history = new History();
    history.start(databases, 16);
    await history.progress(100);
    await run({ primary, standby, history, prefix });
    await history.progress(100);
    await history.stop();
    return {
      commits: history.writes.length,
      longestGap: Math.round(history.longestGap),
      errors: Object.fromEntries(history.errors),
      contradictions: await history.contradictions(databases[0]!),
    };
  } finally {
    for (const kv of databases) await kv.close();
    await standby?.remove();
  }
}

/** Ends the sessions of the engines. Returns false if there are none. */
async function endSessions(client: pg.Client): Promise<boolean> {
  const { rowCount } = await client.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'keywright'",
  );
  return rowCount !== 0;
}

/** Connects as often as the server permits. */
async function takeConnections(server: PostgresServer): Promise<pg.Client[]> {
  const taken: pg.Client[] = [];
  for (;;) {
    const client = new pg.Client({ connectionString: server.url });
    client.on("error", () => undefined);
    try {
      await client.connect();
      taken.push(client);
    } catch {
      return taken;
    }
  }
}

/** Starts a process that writes too, and kills it after its first commits. */
async function killClient({ primary, history, prefix }: Cluster, name: number): Promise<void> {
  const args = [worker, primary.url, prefix, "increment", `killed ${name}`, "0"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === "ready") continue;
    const [id, versionstamp] = line.split(" is ") as [string, string];
    history.writes.push({ id, versionstamp, start: 0, end: performance.now() });
    // Its next commits are on their way.
    child.kill("SIGKILL");
  }
}
