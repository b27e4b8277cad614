// The suite of the ORM, in a browser.
import { openKv } from "@keywright/core";
import { describe, it } from "vitest";
import { ormSuite } from "../../src/testing.js";

ormSuite(
  { describe, it },
  {
    name: "an embedded database in memory",
    open: async () => {
      const kv = await openKv();
      return { kv, dispose: () => kv.close() };
    },
  },
);
