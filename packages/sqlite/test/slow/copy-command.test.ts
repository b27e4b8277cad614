import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { sqliteEngine } from "../../src/index.js";

const command = fileURLToPath(new URL("../../../codegen/bin/keywright.js", import.meta.url));
const modules = fileURLToPath(new URL("../../../../node_modules", import.meta.url));

/** Runs the command in a folder. Returns what it has printed. */
async function run(cwd: string, args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [command, ...args], { cwd });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  await once(child, "close");
  return output.replaceAll(/\s+/g, " ");
}

it("the command copies to a file and back, and reads it by its URL or its path", async () => {
  const folder = await mkdtemp(join(tmpdir(), "keywright copy ä-"));
  try {
    await symlink(modules, join(folder, "node_modules"));
    const from = await openKv(join(folder, "from"), { durability: "relaxed" });
    for (let n = 0; n < 300; n++) await from.set(["row", n], { n, name: "Ada" });
    await from.close();
    const missing = await run(folder, ["copy", "sqlite:nowhere.sqlite", "back"]);
    expect(missing).toContain("KW_DATABASE_NOT_FOUND");
    expect(await run(folder, ["copy", "from", "sqlite:b c/app.sqlite"])).toContain("Done. 300");
    expect(await run(folder, ["copy", "sqlite:b c/app.sqlite", "back"])).toContain("Done. 300");
    // Without a scheme, a file could also be one of Deno KV.
    expect(await run(folder, ["copy", "b c/app.sqlite", "again"])).toContain("Done. 300");
    const config = { models: "*.ts", output: "db", database: "sqlite:b c/app.sqlite" };
    const text = `export default ${JSON.stringify(config)};`;
    await writeFile(join(folder, "keywright.config.mjs"), text);
    expect(await run(folder, ["inspect", "ls", "--values"])).toContain("Ada");
    const kv = await openKv(await sqliteEngine({ path: join(folder, "b c/app.sqlite") }));
    expect((await kv.get(["row", 299])).value).toEqual({ n: 299, name: "Ada" });
    await kv.close();
  } finally {
    await rm(folder, { recursive: true });
  }
});
