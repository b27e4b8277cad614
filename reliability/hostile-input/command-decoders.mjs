import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKv } from "@keywright/core";
import { defineModel } from "@keywright/orm";
import { compileModel, schemaManifest } from "@keywright/orm/codegen";
import * as z from "zod";
import { compareLockFile } from "../../packages/codegen/dist/generate/lock-file.js";
import { formatKey } from "../../packages/codegen/dist/inspect/entries/format-key.js";
import { parseKey } from "../../packages/codegen/dist/inspect/entries/parse-key.js";
import { exportLines } from "../../packages/codegen/dist/inspect/transfer/export-lines.js";
import {
  importEntries,
  readHeader,
} from "../../packages/codegen/dist/inspect/transfer/import-entries.js";
import { readLines } from "../../packages/codegen/dist/inspect/transfer/read-lines.js";
import { assertSame } from "./assert-same.mjs";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), email: z.string() }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true } },
});
const keys = [
  '["users", "ada"]',
  "[1n, -2.5, b64:AQID, NaN, -0]",
  '[true, {"$": "1n"}, "\\u2028"]',
];

/** What the command reads: keys as text, exports, and the lock file. */
export async function openCommandDecoders() {
  const folder = await mkdtemp(join(tmpdir(), "keywright-hostile-"));
  const lockFile = join(folder, "keywright.lock.json");
  const models = [compileModel(User)];
  return [
    {
      name: "keys as text",
      weight: 4,
      seeds: keys.map((key) => Buffer.from(key)),
      decode: (bytes) => {
        const text = formatKey(parseKey(Buffer.from(bytes).toString("utf8")));
        assertSame(Buffer.from(formatKey(parseKey(text))), Buffer.from(text));
      },
    },
    {
      name: "exports",
      weight: 0.3,
      seeds: [await exportOf()],
      decode: importInto,
    },
    {
      name: "lock files",
      weight: 0.1,
      seeds: [Buffer.from(JSON.stringify(schemaManifest(models)))],
      decode: async (bytes) => {
        await writeFile(lockFile, bytes);
        await compareLockFile(join(folder, "keywright.config.ts"), models);
      },
      close: () => rm(folder, { recursive: true, force: true }),
    },
  ];
}

async function exportOf() {
  const kv = await openKv();
  try {
    await kv.set(["users", "ada"], {
      name: "Ada",
      at: new Date(0),
      big: 1n,
      bytes: new Uint8Array(3),
    });
    await kv.set([1n, new Uint8Array(2), Number.NaN], new Map([["a", [1, undefined]]]));
    await kv.set(["expires"], "later", { expireIn: 1e9 });
    await kv.atomic().sum(["counter"], 3n).commit();
    return Buffer.from(`${await linesOf(kv)}\n`);
  } finally {
    await kv.close();
  }
}

async function linesOf(kv) {
  const lines = [];
  for await (const line of exportLines(kv, {})) lines.push(line);
  return lines.join("\n");
}

/** Imports an export. What was imported can be exported again. */
async function importInto(bytes) {
  const kv = await openKv();
  try {
    const lines = readLines(chunksOf(bytes));
    await readHeader(lines);
    const { fault } = await importEntries(kv, lines, { overwrite: true });
    await linesOf(kv);
    if (fault !== undefined) throw fault;
  } finally {
    await kv.close();
  }
}

async function* chunksOf(bytes) {
  yield bytes;
}
