import { engineContract } from "@keywright/core/testing";
import { describe, it } from "vitest";
import { lmdbEngine } from "../src/index.js";
import { temporaryFile } from "./temporary-file.js";

engineContract(
  { describe, it },
  {
    name: "LmdbEngine",
    capabilities: ["shared", "views"],
    create: async () => {
      const { path, remove } = await temporaryFile();
      return { open: () => lmdbEngine({ path }), remove };
    },
  },
);
