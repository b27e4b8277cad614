import { Buffer } from "node:buffer";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { decodeValue } from "../src/values/decode-value.js";
import { encodeValue } from "../src/values/encode-value.js";
import { KvU64 } from "../src/values/kv-u64.js";
import { goldenValues } from "./golden/values.mjs";
import { valueDifference } from "./value-difference.js";

const values = goldenValues(KvU64);
const goldenFile = new URL("golden/values.json", import.meta.url);
const goldenBytes = JSON.parse(readFileSync(goldenFile, "utf8")) as Record<string, string>;

describe("golden values", () => {
  it.each(Object.entries(values))("%s", (name, value) => {
    const bytes = goldenBytes[name];
    expect(Buffer.from(encodeValue(value)).toString("hex")).toBe(bytes);
    const decoded = decodeValue(Buffer.from(bytes!, "hex"));
    // The structured clone algorithm does not know KvU64.
    const expected = value instanceof KvU64 ? value : structuredClone(value);
    expect(valueDifference(decoded, expected)).toBeUndefined();
  });

  it("are all there", () => {
    expect(Object.keys(goldenBytes)).toEqual(Object.keys(values));
  });

  it("read and write the same without msgpackr's native string reader", () => {
    const script = fileURLToPath(new URL("recode-golden-values.mjs", import.meta.url));
    const output = execFileSync(process.execPath, [script, fileURLToPath(goldenFile)], {
      encoding: "utf8",
      env: { ...process.env, MSGPACKR_NATIVE_ACCELERATION_DISABLED: "true" },
    });
    expect(JSON.parse(output)).toEqual({ isNative: false, recoded: goldenBytes });
  });
});
