import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Kv, openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { describeOnServer, newTable, query } from "../server/shared-server.js";

const command = fileURLToPath(new URL("../../../codegen/bin/keywright.js", import.meta.url));
/** A folder of a project that has the package. */
const folder = fileURLToPath(new URL("../..", import.meta.url));

/** Runs `keywright copy`. With `kill`, kills it as soon as it shows progress. */
async function copy(from: string, to: string, kill = false): Promise<string> {
  return await run(folder, ["copy", "--from", from, "--to", to], kill);
}

async function run(cwd: string, args: readonly string[], kill = false): Promise<string> {
  const child = spawn(process.execPath, [command, ...args], { cwd });
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

describeOnServer("keywright copy to PostgreSQL and back", () => {
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

      const { connectionString, prefix } = newTable();
      const url = `${connectionString}?prefix=${prefix}`;
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

  it("creates no table at a source that does not exist", async () => {
    const { connectionString, prefix } = newTable();
    const target = newTable().prefix;
    const [from, to] = [prefix, target].map((name) => `${connectionString}?prefix=${name}`);
    const output = (await copy(from!, to!)).replace(/\s+/g, " ");
    expect(output).toContain("KW_DATABASE_NOT_FOUND");
    expect(output).toContain(`There is no table ${prefix} in the PostgreSQL database`);
    for (const name of [prefix, target]) {
      expect(await query(`SELECT to_regclass('${name}') AS id`)).toEqual([{ id: null }]);
    }
  });

  it("is also the database of a configuration", async () => {
    const project = await mkdtemp(join(tmpdir(), "keywright-copy-"));
    try {
      const { connectionString, prefix } = newTable();
      const database = `${connectionString}?prefix=${prefix}`;
      const config = `export default ${JSON.stringify({ models: "*.ts", output: "db", database })};`;
      await writeFile(join(project, "keywright.config.mjs"), config);
      await symlink(
        fileURLToPath(new URL("../../../../node_modules", import.meta.url)),
        join(project, "node_modules"),
      );
      expect(await run(project, ["inspect", "ls"])).toContain("KW_DATABASE_NOT_FOUND");
      const from = await openKv(join(project, "from"));
      await from.set(["greeting"], "hello");
      await from.close();
      expect(await run(project, ["copy", "from", "database"])).toContain("Done. 1 entry copied");
      expect(await run(project, ["inspect", "ls", "--values"])).toContain("hello");
    } finally {
      await rm(project, { recursive: true });
    }
  });
});
