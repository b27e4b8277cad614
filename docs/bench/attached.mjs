// Prints what calls cost that go to another process, beside `@deno/kv` on a file of its own process.
// The table is that of docs/server.md.
//
//   npm run bench:attached
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openKv as openDenoKv } from "@deno/kv";
import { openKv } from "@keywright/core";
import { measure } from "mitata";

const rows = 1000;
const inFlight = 64;
const rounds = 7;
const watchers = 1000;
const value = { id: "u1", name: "Ada Lovelace", email: "ada@example.com", age: 36 };

const folder = await mkdtemp(join(tmpdir(), "keywright-bench-"));
const path = join(folder, "data");
const token = "0123456789abcdef";
const program = fileURLToPath(new URL("own-folder.mjs", import.meta.url));
const owner = fork(program, [path, token]);
const [url] = await once(owner, "message");
const attached = await openKv(path);
const stores = {
  "`@deno/kv`, own file": await openDenoKv(join(folder, "deno.sqlite")),
  attached,
  "through a server": await openKv(url, { token }),
};

let next = 0;
/** The operations: how often each is repeated in one call of mitata, and the calls at a time. */
const cases = {
  get: { atOnce: 1, run: (kv) => kv.get(["users", next++ % rows]) },
  "get, 64 in flight": { atOnce: inFlight, run: (kv) => kv.get(["users", next++ % rows]) },
  "commit, 64 in flight": {
    atOnce: inFlight,
    run: (kv) =>
      kv
        .atomic()
        .check({ key: ["none", next], versionstamp: null })
        .set(["new", next++], value)
        .commit(),
  },
};

try {
  const before = await ownerBytes();
  for (let n = 0; n < watchers; n++)
    await attached
      .watch([["watched", n]])
      .getReader()
      .read();
  await sleep(300);
  const grown = ((await ownerBytes()) - before) / 2 ** 20;
  console.log(`${watchers} idle watchers: ${grown.toFixed(1)} MiB in the owner\n`);
  for (const kv of Object.values(stores))
    for (let n = 0; n < rows; n++) await kv.set(["users", n], value);
  console.log(`${cpus().length} × ${cpus()[0].model}, load ${loadavg()[0].toFixed(1)}\n`);
  console.log(`| | ${Object.keys(stores).join(" | ")} |\n| --- |${" --- |".repeat(3)}`);
  for (const [name, { atOnce, run }] of Object.entries(cases)) {
    const times = Object.values(stores).map(() => []);
    for (let round = 0; round < rounds; round++)
      for (const [i, kv] of Object.values(stores).entries()) {
        const { p50 } = await measure(
          async () => {
            await Promise.all(Array.from({ length: atOnce }, () => run(kv)));
          },
          { min_cpu_time: 2e8 },
        );
        times[i].push(p50 / atOnce / 1000);
      }
    const medians = times.map((each) => each.sort((a, b) => a - b)[rounds >> 1]);
    const cells = medians.map(
      (time) => `${time.toFixed(1)} µs, ${(medians[0] / time).toFixed(1)} ×`,
    );
    console.log(`| ${name} | ${cells.join(" | ")} |`);
  }
} finally {
  for (const kv of Object.values(stores)) await kv.close();
  owner.kill();
  await rm(folder, { recursive: true, force: true });
}

async function ownerBytes() {
  owner.send("memory");
  const [bytes] = await once(owner, "message");
  return bytes;
}
