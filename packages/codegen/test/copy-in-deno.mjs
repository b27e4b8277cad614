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
    ({ stderr }) =>
      stderr.startsWith("error Requires write access to ") && stderr.includes("--allow-write"),
  );
  assert.match(run(command.slice(1)), /Done\. 205 entries copied, and all compared\./);
  await assertCopied("data/app");

  // What the command has copied is out of the way of the script.
  rmSync(join(folder, "data"), { recursive: true });
  const script = block("js");
  const [, line = ""] = /^\/\/ copy\.ts: deno (.+)$/m.exec(script) ?? [];
  write("copy.ts", script);
  assert.match(run(line.split(" ")), /^205 205$/m);
  await assertCopied("data/app");
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
kv.close();
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
  } finally {
    await kv.close();
  }
}

/** Returns the first code block of the page in a language. */
function block(language) {
  const [, text] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "ms").exec(page) ?? [];
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
