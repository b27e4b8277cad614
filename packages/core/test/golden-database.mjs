// Writes the golden values and keys to a database, or compares those of a database with the golden
// files, so that one runtime can read what another has written: `node golden-database.mjs write
// FOLDER`, `bun golden-database.mjs read FOLDER …`.
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { decodeKey, encodeKey, encodeValue, KvU64, openKv } from "@keywright/core";
import { goldenValues } from "./golden/values.mjs";

const hex = (bytes) => Buffer.from(bytes).toString("hex");
const golden = (name) =>
  JSON.parse(readFileSync(new URL(`golden/${name}.json`, import.meta.url), "utf8"));
const values = golden("values");
// The empty key is that of no entry. JavaScriptCore drops the sign of a NaN.
const keys = golden("keys").filter(
  ({ key }) => key.length > 0 && !key.some(({ number }) => number === "-NaN"),
);

const [task, ...folders] = process.argv.slice(2);
for (const folder of folders) {
  const kv = await openKv(folder);
  try {
    await (task === "write" ? write(kv) : compare(kv));
  } finally {
    await kv.close();
  }
}
console.log(
  `${task}: ${folders.length} × ${Object.keys(values).length} values, ${keys.length} keys`,
);

async function write(kv) {
  for (const [name, value] of Object.entries(goldenValues(KvU64)))
    await kv.set(["value", name], value);
  for (const { bytes } of keys)
    await kv.set(["key", ...decodeKey(Buffer.from(bytes, "hex"))], bytes);
}

async function compare(kv) {
  const errorNames = [];
  for (const [name, bytes] of Object.entries(values)) {
    const { value } = await kv.get(["value", name]);
    assert.equal(hex(encodeValue(value)), bytes, name);
    if (value instanceof Error) errorNames.push(`${value.name}: ${value.stack}`);
  }
  assert.deepEqual(errorNames, [
    "Error: Error: broken\n    at somewhere",
    "TypeError: stack",
    "Error: Error",
  ]);
  const found = [];
  for await (const entry of kv.list({ prefix: ["key"] })) {
    const bytes = hex(encodeKey(entry.key.slice(1)));
    assert.equal(entry.value, bytes);
    assert.equal((await kv.get(entry.key)).value, bytes);
    found.push(bytes);
  }
  // Hexadecimal digits sort as the bytes do.
  assert.deepEqual(found, [...new Set(keys.map(({ bytes }) => bytes))].sort());
}
