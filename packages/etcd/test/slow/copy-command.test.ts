import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DatabaseNotFoundError, type Kv, openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { etcdEngine } from "../../src/open-etcd.js";
import { describeEtcd, newPrefix } from "../server/shared-cluster.js";

const command = fileURLToPath(new URL("../../../codegen/bin/keywright.js", import.meta.url));
/** A folder of a project that has the package. */
const folder = fileURLToPath(new URL("../..", import.meta.url));

/** Runs `keywright copy`. With `kill`, kills it as soon as it shows progress. */
async function copy(from: string, to: string, kill = false): Promise<string> {
  return await run(["copy", "--from", from, "--to", to], kill);
}

async function run(args: readonly string[], kill = false): Promise<string> {
  const child = spawn(process.execPath, [command, ...args], { cwd: folder });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (text) => {
      output += text;
      if (kill) child.kill("SIGKILL");
    });
  }
  await once(child, "close");
  return output;
}

/** Returns the keys and values in the order of their versionstamps. */
async function inOrder(kv: Kv): Promise<unknown[]> {
  const entries: { key: unknown; value: unknown; versionstamp: string }[] = [];
  for await (const entry of kv.list({ prefix: [] }, { batchSize: 500 })) entries.push(entry);
  entries.sort((a, b) => (a.versionstamp < b.versionstamp ? -1 : 1));
  expect(new Set(entries.map(({ versionstamp }) => versionstamp)).size).toBe(entries.length);
  return entries.map(({ key, value }) => [key, value]);
}

describeEtcd("keywright copy to etcd and back", 1, (cluster) => {
  it("creates nothing at a source that does not exist", async () => {
    const hosts = cluster().endpoints.map((endpoint) => new URL(endpoint).host);
    const [missing, target] = [newPrefix(), newPrefix()];
    const [from, to] = [missing, target].map((prefix) => `etcd://${hosts.join(",")}/${prefix}`);
    const output = (await copy(from!, to!)).replace(/\s+/g, " ");
    expect(output).toContain("KW_DATABASE_NOT_FOUND");
    expect(output).toContain(`There is no database with the prefix ${missing} in etcd`);
    for (const prefix of [missing, target]) {
      const opening = etcdEngine({
        endpoints: cluster().endpoints,
        prefix,
        createIfMissing: false,
      });
      await expect(opening).rejects.toThrow(DatabaseNotFoundError);
    }
  });

  it("resumes after a kill, and keeps everything in the order of its commits", async () => {
    const scratch = await mkdtemp(join(tmpdir(), "keywright-copy-"));
    try {
      const [path, backPath] = [join(scratch, "from"), join(scratch, "back")];
      const from = await openKv(path, { durability: "relaxed" });
      const count = 5000;
      const keys = Array.from({ length: count }, (_, n) => ["row", (n * 7919) % count]);
      await Promise.all(keys.map((key, n) => from.set(key, { n, name: "Ada" })));
      const expected = await inOrder(from);
      await from.close();

      const hosts = cluster().endpoints.map((endpoint) => new URL(endpoint).host);
      const url = `etcd://${hosts.join(",")}/${newPrefix()}`;
      await copy(path, url, true);
      expect(await copy(path, url)).toMatch(
        /Done\. 5,000 .* of the run before, and all\s+compared/,
      );
      expect(await copy(url, backPath)).toContain("Done.");
      const back = await openKv(backPath);
      expect(await inOrder(back)).toEqual(expected);
      await back.close();
    } finally {
      await rm(scratch, { recursive: true });
    }
  });

  it("moves to etcd, from there to an LMDB file, and takes a move back", async () => {
    const scratch = await mkdtemp(join(tmpdir(), "keywright-move-"));
    try {
      const [path, file] = [join(scratch, "from"), join(scratch, "to.mdb")];
      const from = await openKv(path, { durability: "relaxed", log: {} });
      for (let n = 0; n < 500; n++) void from.set(["row", n], { n });
      await from.set(["row", 500], { n: 500 });
      const expected = await inOrder(from);
      await from.close();
      const endpoints = cluster().endpoints;
      const prefix = newPrefix();
      const url = `etcd://${endpoints.map((each) => new URL(each).host).join(",")}/${prefix}`;
      const move = (...places: string[]) => run(["copy", ...places, "--follow", "--switch"]);
      expect(await move(path, url)).toContain("Done. 501 entries");
      await expect(openKv(path)).rejects.toMatchObject({ code: "KW_DATABASE_MOVED" });
      expect(await move(url, `lmdb:${file}`)).toContain("KW_LOG_OFF");
      const open = () => etcdEngine({ endpoints, prefix });
      await (await openKv(await open(), { log: {} })).close();
      expect(await move(url, `lmdb:${file}`)).toContain("Done. 501 entries");
      const moved = await open();
      await expect(openKv(moved)).rejects.toMatchObject({ code: "KW_DATABASE_MOVED" });
      await moved.close();
      expect(await copy(`lmdb:${file}`, join(scratch, "back"))).toContain("Done.");
      const back = await openKv(join(scratch, "back"));
      expect(await inOrder(back)).toEqual(expected);
      await back.close();
      await run(["copy", url, "--undo"]);
      const again = await openKv(await open());
      await again.set(["after"], 1);
      await again.close();
    } finally {
      await rm(scratch, { recursive: true });
    }
  });
});
