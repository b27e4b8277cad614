import { type Kv, type KvU64, openKv } from "@keywright/core";
import { kvContract } from "@keywright/core/testing";
import { describe } from "vitest";
import { serve } from "../src/index.js";
import { denoRuntimeDifferences } from "./deno-client-differences.js";
import { describeTogether, itIfCertain, token } from "./served.js";

const { Deno } = globalThis as {
  Deno?: { openKv(url: string): Promise<Kv>; readonly KvU64: typeof KvU64 };
};

// `npm run test:runtimes` runs it in Deno.
describe.skipIf(Deno === undefined)("Deno itself, which only its own runtime has", () => {
  kvContract(
    { describe: describeTogether, it: itIfCertain },
    {
      name: "Deno.openKv() over KV Connect",
      KvU64: Deno?.KvU64 as typeof KvU64,
      differences: denoRuntimeDifferences,
      create: async () => {
        process.env["DENO_KV_ACCESS_TOKEN"] = token;
        const kv = await openKv(":memory:", { compat: "deno" });
        const server = await serve(kv, { port: 0, tokens: [token] });
        const client = (await Deno?.openKv(server.url)) as unknown as Kv & { close(): void };
        return {
          kv: client,
          dispose: async () => {
            try {
              await client.close();
            } catch {}
            await server.close();
            await kv.close();
          },
        };
      },
    },
  );
});
