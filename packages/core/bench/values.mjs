// Measures how long a small row takes to encode and to decode, compared with other codecs: `npm run
// bench -w @keywright/core`.
import v8 from "node:v8";
import { decodeValue, encodeValue } from "@keywright/core";
import { bench, do_not_optimize, run, summary } from "mitata";
import { Packr } from "msgpackr";

const row = {
  id: "01H76YTWK3YBV020S6MP69TBEQ",
  name: "Ada Lovelace",
  email: "ada@example.com",
  favoriteColor: "green",
  createdAt: new Date(1691377037923),
  age: 36,
  tags: ["a", "b"],
};
const graph = { ...row, tags: new Set(row.tags) };
const maps = new Packr({ useRecords: false, variableMapSize: true });
const records = new Packr({ useRecords: true });

/** Name → encoder, decoder, and the row that they take. */
const codecs = {
  "keywright, plain": [encodeValue, decodeValue, row],
  "keywright, graph": [encodeValue, decodeValue, graph],
  "msgpackr, maps": [(value) => maps.pack(value), (bytes) => maps.unpack(bytes), row],
  "msgpackr, records": [(value) => records.pack(value), (bytes) => records.unpack(bytes), row],
  "node:v8": [v8.serialize, v8.deserialize, row],
};

for (const direction of ["encode", "decode"]) {
  summary(() => {
    for (const [name, [encode, decode, value]] of Object.entries(codecs)) {
      const bytes = encode(value);
      const call = direction === "encode" ? () => encode(value) : () => decode(bytes);
      bench(`${direction}, ${name} (${bytes.length} bytes)`, () => do_not_optimize(call()));
    }
  });
}
await run();
