import { describe, it } from "vitest";
import { openKv } from "../src/kv/open-kv.js";
import { kvContract } from "../src/testing/kv/kv-contract.js";
import { denoContractTestsPassed, isListed } from "./deno-compat-differences.js";
import { denoDifferences } from "./deno-kv-differences.js";
import { makeFolder, removeFolder } from "./temporary-folder.js";

// Of the contract, compat mode fails what Deno fails, but for what is listed as better.
kvContract(
  { describe, it },
  {
    name: "Kv in compat mode",
    capabilities: ["reopen"],
    differences: Object.fromEntries(
      Object.entries(denoDifferences).filter(([name]) => !isListed(denoContractTestsPassed, name)),
    ),
    create: async () => {
      const folder = await makeFolder();
      const open = () => openKv(folder, { compat: "deno", durability: "relaxed" });
      let kv = await open();
      return {
        kv,
        reopen: async () => {
          await kv[Symbol.asyncDispose]();
          kv = await open();
          return kv;
        },
        dispose: async () => {
          await kv[Symbol.asyncDispose]();
          await removeFolder(folder);
        },
      };
    },
  },
);
