import { engineContract } from "@keywright/core/testing";
import { it } from "vitest";
import { postgresEngine } from "../../src/index.js";
import { describeOnServer as describe, newTable } from "../server/shared-server.js";

engineContract(
  { describe, it },
  {
    name: "PostgresEngine",
    capabilities: ["shared", "views", "rangeChecks", "log", "sharedLog"],
    create: async () => {
      const options = newTable();
      return { open: () => postgresEngine(options) };
    },
  },
);
