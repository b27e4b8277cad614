import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type EmbeddedKv, KvU64, openKv } from "@keywright/core";
import { createDatabase, defineModel, migrate } from "@keywright/orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { postgresEngine } from "../../src/index.js";
import { freePort } from "../server/free-port.js";
import { describeOnServer, newTable } from "../server/shared-server.js";

const command = fileURLToPath(new URL("../../../codegen/bin/keywright.js", import.meta.url));
/** A folder of a project in which the command finds both packages. */
const folder = fileURLToPath(new URL("../..", import.meta.url));
const hasEtcd = spawnSync("etcd", ["--version"]).status === 0;

/** A member of etcd in a folder of its own. */
async function startEtcd(data: string): Promise<{ child: ChildProcess; host: string }> {
  const host = `127.0.0.1:${await freePort()}`;
  const peer = `http://127.0.0.1:${await freePort()}`;
  const child = spawn(
    "etcd",
    [
      ...["--data-dir", data, "--unsafe-no-fsync", "--log-level", "error", "--logger", "zap"],
      ...["--listen-client-urls", `http://${host}`, "--advertise-client-urls", `http://${host}`],
      ...["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer],
      ...["--initial-cluster", `default=${peer}`],
    ],
    { stdio: "ignore" },
  );
  const isHealthy = () =>
    fetch(`http://${host}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isHealthy())) await new Promise((resolve) => setTimeout(resolve, 50));
  return { child, host };
}

async function copy(from: string, to: string): Promise<void> {
  const args = [command, "copy", "--from", from, "--to", to];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder });
  expect(stdout).toContain("Done.");
}

/** Returns the keys and values in the order of their versionstamps. */
async function inOrder(kv: EmbeddedKv): Promise<unknown[]> {
  const entries: { key: unknown; value: unknown; versionstamp: string }[] = [];
  for await (const entry of kv.list({ prefix: [] }, { batchSize: 500 })) entries.push(entry);
  entries.sort((a, b) => (a.versionstamp < b.versionstamp ? -1 : 1));
  return entries.map(({ key, value }) => [key, value]);
}

const Row = defineModel({
  name: "rows",
  schema: z.object({ id: z.int(), color: z.string() }),
  primaryKey: "id",
  indexes: { byColor: { key: "color", count: true } },
});

(hasEtcd ? describeOnServer : describe.skip)("keywright copy from etcd to PostgreSQL", () => {
  let scratch: string;
  let etcd: Awaited<ReturnType<typeof startEtcd>>;
  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), "keywright-copy-"));
    etcd = await startEtcd(join(scratch, "etcd"));
  });
  afterAll(async () => {
    etcd.child.kill("SIGKILL");
    await once(etcd.child, "exit");
    await rm(scratch, { recursive: true });
  });

  it("keeps the order of commits, and the models find their rows", async () => {
    const table = newTable();
    const path = join(scratch, "from");
    const from = await openKv(path, { durability: "relaxed" });
    let expected: unknown[];
    try {
      const db = await createDatabase({ kv: from, models: { rows: Row } });
      await migrate(db);
      const data = Array.from({ length: 500 }, (_, n) => (n * 271) % 500);
      const rows = data.map((id) => ({ id, color: id % 2 ? "red" : "blue" }));
      await Promise.all(rows.map((row) => db.rows.create({ data: row })));
      await from.atomic().sum(["n"], 7n).set(["bytes"], Uint8Array.of(1, 2)).commit();
      await from.set(["log", from.commitVersionstamp()], "last");
      expected = await inOrder(from);
    } finally {
      await from.close();
    }
    const to = `${table.connectionString}?prefix=${table.prefix}`;
    await copy(path, `etcd://${etcd.host}/keywright`);
    await copy(`etcd://${etcd.host}/keywright`, to);
    const kv = await openKv(await postgresEngine(table));
    try {
      expect(await inOrder(kv)).toEqual(expected);
      const db = await createDatabase({ kv, models: { rows: Row } });
      expect(await db.rows.count({ where: { color: "red" } })).toBe(250);
      await db.rows.create({ data: { id: 1000, color: "red" } });
      const { items } = await db.rows.findMany({ where: { color: "red" } });
      expect(items).toHaveLength(251);
      expect((await kv.get(["n"])).value).toEqual(new KvU64(7n));
    } finally {
      await kv.close();
    }
  });
});
