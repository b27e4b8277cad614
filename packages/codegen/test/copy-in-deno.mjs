// Copies a file of Deno KV with the commands of docs/from-deno-kv.md, and reads the copies in this
// runtime: `node copy-in-deno.mjs DENO PACKED`, where DENO is the program and PACKED a folder in
// which the packed packages are installed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [deno, packedFolder] = process.argv.slice(2);
const packed = resolve(packedFolder);
const page = readFileSync(
  fileURLToPath(new URL("../../../docs/from-deno-kv.md", import.meta.url)),
  "utf8",
);
const folder = mkdtempSync(join(tmpdir(), "keywright-deno-copy-"));
try {
  cpSync(join(packed, "package.json"), join(folder, "package.json"));
  symlinkSync(join(packed, "node_modules"), join(folder, "node_modules"), "junction");
  write("seed.ts", seed());
  run(["run", "-A", "--unstable-kv", "seed.ts"]);

  const command = block("sh").replaceAll(/\\\n/g, "").trim().split(/ +/);
  assert.equal(command[0], "deno");
  const reading = command.slice(1).filter((word) => word !== "--allow-write");
  assert.throws(
    () => run(reading),
    ({ stderr }) => /^error KW_DATABASE_PATH_INVALID: .*--allow-write/.test(stderr),
  );
  const done = /Done\. 206 entries and 2 messages copied, and all entries compared\./;
  assert.match(run(command.slice(1)), done);
  await assertCopied("data/app");
  await assertQueue("data/app");

  // What the command has copied is out of the way of the script.
  rmSync(join(folder, "data"), { recursive: true });
  assert.match(runScript(block("js")), /^206 entries and 2 messages$/m);
  await assertCopied("data/app");
  await assertQueue("data/app");

  rmSync(join(folder, "data"), { recursive: true });
  const script = block("js", 1);
  assert.match(
    runScript(script.replace('Deno.env.get("DENO_KV_URL")', '"kv.sqlite"')),
    /^206 206$/m,
  );
  await assertCopied("data/app");

  write("faults.ts", faults());
  write("lock.ts", lock());
  assert.equal(run(["run", "-A", "faults.ts"]), "done\n");
} finally {
  rmSync(folder, { recursive: true });
}

/** The program that writes the source. `Map` and `Error` are written by the V8 of Deno. */
function seed() {
  return `const kv = await Deno.openKv("kv.sqlite");
const value = {
  name: "Ada",
  at: new Date(5),
  tags: new Set(["a"]),
  sizes: new Map([["big", 10n]]),
  bytes: new Uint8Array([1, 2]),
  fault: new RangeError("no"),
  buffer: new Float32Array([1.5]),
};
await kv.set(["users", 1n], value);
await kv.set(["users", 1], value);
await kv.set([new Uint8Array([0, 255]), true, "ä"], null);
await kv.set(["long"], "x".repeat(60_000));
await kv.atomic().sum(["visits"], 3n).commit();
for (let i = 0; i < 200; i++) await kv.set(["rows", i], { i });
await kv.set(["session"], "ends", { expireIn: 3_600_000 });
await kv.set(["ended"], "gone", { expireIn: 1 });
await kv.enqueue({ mail: new Set([1n]) }, { keysIfUndelivered: [["lost", 1n]], backoffSchedule: [1, 2] });
await kv.enqueue("later", { delay: 3_600_000 });
await new Promise((resolve) => setTimeout(resolve, 10));
kv.close();
`;
}

/** A program that copies what cannot be copied, and what was copied in part. */
function faults() {
  return `import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { copyKv, openKv } from "@keywright/core";

async function refuses(copy: Promise<unknown>, code: string, text: RegExp) {
  await assert.rejects(copy, (error: any) => error.code === code && text.test(error.message));
}
await refuses(copyKv("seed.ts", await openKv()), "KW_DATABASE_FORMAT", /not one of Deno KV/);
await refuses(copyKv("none.sqlite", await openKv()), "KW_DATABASE_PATH_INVALID", /no such file/);
await refuses(copyKv(".", await openKv()), "KW_DATABASE_PATH_INVALID", /no such file/);
await Deno.copyFile("kv.sqlite", "later.sqlite");
const later = new DatabaseSync("later.sqlite");
later.exec("UPDATE migration_state SET version = 4");
await refuses(copyKv("later.sqlite", await openKv()), "KW_DATABASE_FORMAT", /version 4/);
later.exec("UPDATE migration_state SET version = 3");
assert.equal((await copyKv("later.sqlite", await openKv(), { messages: false })).messages, 0);

// A copy that stops after some messages copies the others when it is called again.
const to = await openKv();
const stopped = new Error("stopped");
const stop = ({ messages }: { messages: number }) => {
  if (messages > 0) throw stopped;
};
later.exec(\`
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
  INSERT INTO queue SELECT \${Date.now() + 3_600_000} + i, 'message ' || i, (SELECT data FROM queue LIMIT 1), '[]', '[]' FROM n\`);
await assert.rejects(copyKv("later.sqlite", to, { onProgress: stop }), stopped);
const copied = await copyKv("later.sqlite", to);
assert.equal(copied.messages, 2002);
assert(copied.resumed);
assert.equal((await Array.fromAsync(to.list({ prefix: ["__keywright"] }))).length, 0);

// A copy that leaves the other messages out forgets which ones it has copied.
const without = await openKv();
await assert.rejects(copyKv("later.sqlite", without, { onProgress: stop }), stopped);
await copyKv("later.sqlite", without, { messages: false });
assert.equal((await Array.fromAsync(without.list({ prefix: ["__keywright"] }))).length, 0);

// The keys of messages need room too, and the target may not have it.
await Deno.copyFile("kv.sqlite", "large.sqlite");
const large = new DatabaseSync("large.sqlite");
large.exec("DELETE FROM kv");
const keys = JSON.stringify(Array.from({ length: 10 }, () => [2, ...Array(1900).fill(97), 0]));
large.exec(\`
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
  INSERT INTO queue SELECT \${Date.now() + 3_600_000} + i, 'message ' || i, (SELECT data FROM queue LIMIT 1), '[]', '\${keys}' FROM n\`);
large.close();
const limited = (totalMutationBytes: number) => openKv(":memory:", { limits: { totalMutationBytes } });
assert.equal((await copyKv("large.sqlite", await limited(819_200))).messages, 102);
await refuses(copyKv("large.sqlite", await limited(10_000)), "KW_COPY_FAILED", /refuses a message/);

// A program may lock the file for a moment.
await Deno.copyFile("kv.sqlite", "locked.sqlite");
new DatabaseSync("locked.sqlite").exec("PRAGMA journal_mode = DELETE");
const locking = new Worker(new URL("lock.ts", import.meta.url), { type: "module" });
await new Promise((resolve) => locking.onmessage = resolve);
assert.equal((await copyKv("locked.sqlite", await openKv(), { messages: false })).entries, 206);
locking.terminate();

// The old program has delivered a message that was copied.
const again = await openKv();
await assert.rejects(copyKv("later.sqlite", again, { onProgress: stop }), stopped);
later.exec("DELETE FROM queue WHERE rowid = (SELECT rowid FROM queue ORDER BY ts LIMIT 1)");
await refuses(copyKv("later.sqlite", again), "KW_COPY_FAILED", /1 message that .* has delivered since/);
later.close();
console.log("done");
Deno.exit();
`;
}

/** A worker that locks a file for half a second. */
function lock() {
  return `import { DatabaseSync } from "node:sqlite";

const database = new DatabaseSync("locked.sqlite");
database.exec("BEGIN EXCLUSIVE");
postMessage("locked");
setTimeout(() => database.exec("COMMIT"), 500);
`;
}

async function assertCopied(path) {
  const require = createRequire(join(packed, "package.json"));
  const core = pathToFileURL(require.resolve("@keywright/core")).href;
  const { openKv } = await import(core);
  const kv = await openKv(join(folder, path), { createIfMissing: false });
  try {
    for (const part of [1n, 1]) {
      const { value } = await kv.get(["users", part]);
      assert.deepEqual(value, {
        name: "Ada",
        at: new Date(5),
        tags: new Set(["a"]),
        sizes: new Map([["big", 10n]]),
        bytes: new Uint8Array([1, 2]),
        fault: value.fault,
        buffer: new Float32Array([1.5]),
      });
      assert(value.fault instanceof RangeError && value.fault.message === "no");
    }
    const nothing = await kv.get([new Uint8Array([0, 255]), true, "ä"]);
    assert(nothing.value === null && nothing.versionstamp !== null);
    assert.equal((await kv.get(["long"])).value, "x".repeat(60_000));
    assert.equal((await kv.get(["visits"])).value.value, 3n);
    assert.deepEqual((await kv.get(["rows", 199])).value, { i: 199 });
    assert.equal((await kv.get(["session"])).value, "ends");
    assert.equal((await kv.get(["ended"])).versionstamp, null);
  } finally {
    await kv.close();
  }
}

/** The first message fails as often as it may, and the second one is due in an hour. */
async function assertQueue(path) {
  const require = createRequire(join(packed, "package.json"));
  const { openKv } = await import(pathToFileURL(require.resolve("@keywright/core")).href);
  const kv = await openKv(join(folder, path), { createIfMissing: false });
  const { expireAt } = await kv.get(["session"]);
  assert(expireAt > Date.now() + 3_000_000 && expireAt < Date.now() + 3_600_000);
  const delivered = [];
  const report = console.error;
  console.error = () => undefined;
  const listening = kv.listenQueue((message) => {
    delivered.push(message);
    throw new Error("refused");
  });
  const watching = kv.watch([["lost", 1n]]);
  for await (const [{ value }] of watching) if (value !== null) break;
  assert.deepEqual((await kv.get(["lost", 1n])).value, { mail: new Set([1n]) });
  assert.equal(delivered.length, 3);
  await kv.close();
  await listening;
  console.error = report;
}

/** Runs a script of the page with the permissions that its first line names. */
function runScript(script) {
  const [, line = ""] = /^\/\/ copy\.ts: deno (.+)$/m.exec(script) ?? [];
  write("copy.ts", script);
  return run(line.split(" "));
}

/** Returns a code block of the page in a language. */
function block(language, index = 0) {
  const blocks = [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms"))];
  const [, text] = blocks[index] ?? [];
  assert(text !== undefined, `there is no block of ${language}`);
  return text;
}

function write(name, text) {
  writeFileSync(join(folder, name), text);
}

/** Runs Deno without a terminal, so that a missing permission is an error and not a question. */
function run(args) {
  return execFileSync(deno, args, {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
}
