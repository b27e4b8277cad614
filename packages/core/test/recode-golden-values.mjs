// Decodes each value of a golden file and encodes it again. It runs in a separate process, because
// msgpackr chooses its string reader when it is loaded.
import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { isNativeAccelerationEnabled } from "msgpackr";
import { decodeValue, encodeValue } from "../dist/index.js";

const golden = JSON.parse(readFileSync(process.argv[2], "utf8"));
const recoded = Object.fromEntries(
  Object.entries(golden).map(([name, hex]) => {
    const value = decodeValue(Buffer.from(hex, "hex"));
    return [name, Buffer.from(encodeValue(value)).toString("hex")];
  }),
);
console.log(JSON.stringify({ isNative: isNativeAccelerationEnabled, recoded }));
