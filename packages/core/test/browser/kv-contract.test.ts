// The contract of databases, in a browser.
import { describe, it } from "vitest";
import { openKv } from "../../src/kv/open-kv-in-browser.js";
import { kvContract } from "../../src/testing/index.js";

kvContract(
  { describe, it },
  {
    name: "Kv in memory",
    create: async () => {
      const kv = await openKv();
      return { kv, dispose: () => kv.close() };
    },
  },
);
