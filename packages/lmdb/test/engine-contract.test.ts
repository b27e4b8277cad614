import { engineContract } from "@keywright/core/testing";
import { describe, it } from "vitest";
import { openEngine } from "./open-engine.js";
import { temporaryFile } from "./temporary-file.js";

engineContract(
  { describe, it },
  {
    name: "LmdbEngine",
    capabilities: ["views", "rangeChecks", "expiryOrder", "log"],
    create: async () => {
      const { path, remove } = await temporaryFile();
      return { open: () => openEngine(path), remove };
    },
  },
);
