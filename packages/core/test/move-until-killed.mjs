// Moves a database while it writes, until it is killed: `node move-until-killed.mjs OLD NEW`. Sends
// the phases of the move, and what was written.
import { setImmediate } from "node:timers/promises";
import { moveKv, openKv } from "../dist/index.js";

const [from, to] = process.argv.slice(2);
const kv = await openKv(from);

async function write(key) {
  for (let n = 0; ; n++) {
    try {
      await kv.set(["write", key], n);
      process.send(`w${key} ${n}`);
    } catch (error) {
      if (error.code === "KW_DATABASE_MOVED") return;
      if (error.code !== "KW_DATABASE_MOVING") throw error;
    }
    await setImmediate();
  }
}

const writers = [0, 1, 2].map(write);
process.send("copying");
let last = "";
await moveKv(kv, to, {
  onProgress: ({ phase }) => {
    if (phase !== last) process.send(phase);
    last = phase;
  },
});
process.send("done");
await Promise.all(writers);
// Until it is killed.
setInterval(() => undefined, 1000);
