import { execFile, execFileSync } from "node:child_process";
import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { openKv } from "../../src/kv/open-kv.js";
import { withFolder } from "../temporary-folder.js";

const script = fileURLToPath(new URL("../run-code.mjs", import.meta.url));

/** True if this user can mount file systems in a namespace of its own. */
const canMount = (() => {
  try {
    execFileSync("unshare", ["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

it.skipIf(!canMount)("a database on a read-only file system can be read", async () => {
  await withFolder(async (folder) => {
    let kv = await openKv(folder);
    // In tables and in a log, so that both have to be found.
    for (let n = 0; n < 30; n++) await kv.set(["n", n], "x".repeat(200_000));
    await kv.close();
    kv = await openKv(folder);
    await kv.set(["last"], 1);
    await kv.close();
    expect((await readdir(folder)).some((name) => name.endsWith(".ldb"))).toBe(true);
    const code = `
      const where = ${JSON.stringify(folder)};
      console.log(await openKv(where).catch(({ code }) => code));
      const kv = await openKv(where, { readOnly: true });
      console.log((await kv.get(["last"])).value);
      let entries = 0;
      for await (const _ of kv.list({ prefix: ["n"] })) entries++;
      console.log(entries);
      console.log(await kv.set(["last"], 2).catch(({ code }) => code));
      console.log(await openKv(where).catch(({ code }) => code));
      console.log((await kv.verifyFiles()).damages.length);
      await kv.close();`;
    const mount = `mount --bind ${folder} ${folder} && mount -o remount,ro,bind ${folder}`;
    const args = ["-rm", "sh", "-c", `${mount} && exec "$0" "$1" "$2"`];
    const { stdout } = await promisify(execFile)("unshare", [
      ...[...args, process.execPath, script, code],
    ]);
    expect(stdout.trimEnd().split("\n")).toEqual([
      "KW_DATABASE_PATH_INVALID",
      "1",
      "30",
      "KW_DATABASE_READ_ONLY",
      "KW_DATABASE_PATH_INVALID",
      "0",
    ]);
  });
});
