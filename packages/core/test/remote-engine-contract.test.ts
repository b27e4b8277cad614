import { describe, it } from "vitest";
import { engineContract } from "../src/testing/index.js";
import { connectTo, startOwner } from "./remote-engine.js";

engineContract(
  { describe, it },
  {
    name: "RemoteEngine",
    capabilities: ["shared", "views", "rangeChecks", "expiryOrder"],
    create: async () => {
      const owner = await startOwner();
      return { open: () => connectTo(owner), remove: () => owner.close() };
    },
  },
);
