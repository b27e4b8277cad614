// Prints the key bytes of -NaN that this runtime encodes, and those of the key that it decodes from
// them. It runs in a separate process, because V8 may drop the sign of a NaN in a function that it
// has optimised.
import { Buffer } from "node:buffer";
import { decodeKey, encodeKey } from "../dist/index.js";

const [negativeNaN] = new Float64Array(new BigUint64Array([0xfff8000000000000n]).buffer);
const bytes = encodeKey([negativeNaN]);
const again = encodeKey(decodeKey(Uint8Array.from(Buffer.from(process.argv[2], "hex"))));
console.log(JSON.stringify([bytes, again].map((each) => Buffer.from(each).toString("hex"))));
