// Takes the lock of tools-lock.test.ts for as long as it lives: `node hold-lock.mjs FOLDER`.
import { openKv } from "../dist/index.js";
import { withLock } from "../dist/tools.js";

const kv = await openKv(process.argv[2]);
await withLock(
  kv,
  ["locks", "report"],
  async ({ token }) => {
    process.send({ token });
    await new Promise((resolve) => setTimeout(resolve, 60_000));
  },
  { lease: 400 },
);
