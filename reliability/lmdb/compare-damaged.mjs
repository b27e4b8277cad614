// Opens damaged copies of an LMDB file and compares them with what the file contained. The process
// may end, because LMDB does not expect damaged pages: damage-lmdb.mjs starts it again. Each line
// of the input is `<number> <bit> <bytes>`: a bit to flip, or bytes of zeros to write there. Each
// line of the output is the number and the outcome: `reported`, `nothing`, or what is wrong.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { createDatabase, UniqueConstraintError } from "@keywright/orm";
import { openDatabase } from "../shared/open-database.mjs";
import { rowOf, rowsOfDatabase, users } from "./damaged-models.mjs";

const [original, folder] = process.argv.slice(2);
const bytes = readFileSync(original);
const content = await withDatabase(original, contentOf);

for await (const line of createInterface({ input: process.stdin })) {
  const [number, bit, size] = line.split(" ").map(Number);
  console.log(`${number} ${await outcomeOf(number, bit, size)}`);
}

async function outcomeOf(number, bit, size) {
  const damaged = Buffer.from(bytes);
  const at = bit >> 3;
  if (size > 0) damaged.fill(0, at, Math.min(at + size, damaged.length));
  else damaged[at] ^= 1 << (bit & 7);
  const path = `${folder}/${process.pid}-${number}.mdb`;
  writeFileSync(path, damaged);
  try {
    const problem = await withDatabase(path, compare);
    return problem ?? "nothing";
  } catch (error) {
    const isTyped = ["KW_CORRUPTION", "KW_DATABASE_FORMAT"].includes(error.code);
    return isTyped ? "reported" : `wrong: ${error.stack.replaceAll("\n", " ")}`;
  } finally {
    rmSync(path, { force: true });
    rmSync(`${path}-lock`, { force: true });
  }
}

/** Returns what is wrong, if anything is. */
async function compare(kv) {
  const found = await contentOf(kv);
  for (const [key, value] of content)
    if (found.get(key) !== value) return `wrong: ${key} is missing or has another value`;
  for (const key of found.keys()) if (!content.has(key)) return `wrong: ${key} is there again`;
  const db = await createDatabase({ kv, models: { users } });
  for (let n = 0; n < 5; n++) {
    const row = rowOf(Math.floor(Math.random() * rowsOfDatabase), 0);
    for (const data of [row, { ...row, id: "new" }]) {
      const isRefused = await db.users.create({ data }).then(
        () => false,
        (error) => error instanceof UniqueConstraintError,
      );
      if (!isRefused) return `wrong: ${data.id} was created again`;
    }
  }
  return undefined;
}

async function contentOf(kv) {
  const found = new Map();
  for await (const { key, value } of kv.list({ prefix: [] }, { batchSize: 500 })) {
    const json = JSON.stringify(value, (_name, part) =>
      typeof part === "bigint" ? `${part}` : part,
    );
    if ((await kv.get(key)).versionstamp !== null) found.set(key.join(), json);
  }
  return found;
}

async function withDatabase(path, body) {
  const kv = await openDatabase(path);
  try {
    return await body(kv);
  } finally {
    await kv.close();
  }
}
