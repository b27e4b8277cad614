import { engineContract } from "@keywright/core/testing";
import { describe, it } from "vitest";
import { sqliteEngine } from "../src/index.js";
import { temporaryFile } from "./temporary-file.js";

engineContract(
  { describe, it },
  {
    name: "SqliteEngine",
    capabilities: ["shared", "views", "rangeChecks", "expiryOrder", "log", "sharedLog"],
    create: async () => {
      const { path, remove } = await temporaryFile();
      return { open: () => sqliteEngine({ path }), remove };
    },
  },
);
