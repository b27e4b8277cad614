// Consumes the log of the folder in its argument. For each new entry ["in", n], it appends n to the
// list of entries ["out", position], without checks: only the position of the consumer prevents
// that two processes append.
import process from "node:process";
import { openKv } from "@keywright/core";

const [folder] = process.argv.slice(2);
const kv = await openKv(folder, { log: { keep: "1 day" } });

await kv.consume(
  "list",
  async ({ commit, atomic }) => {
    const { value: count } = await kv.get(["count"]);
    const operation = atomic();
    let next = count ?? 0;
    for (const { key } of commit.changes) operation.set(["out", next++], key[1]);
    await operation.set(["count"], next).commit();
  },
  { prefix: ["in"], lease: 300, retryDelay: () => 5, onError: () => undefined },
);
