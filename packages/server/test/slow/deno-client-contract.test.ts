import { KvU64, openKv as openDenoKv } from "@deno/kv";
import { type Kv, openKv } from "@keywright/core";
import { kvContract } from "@keywright/core/testing";
import { serve } from "../../src/index.js";
import { denoClientDifferences } from "../deno-client-differences.js";
import { describeTogether, itIfCertain, token } from "../served.js";

/** The tests of the queue do not await `listenQueue`, which this client always rejects. */
function withHandledRejections(kv: Kv): Kv {
  return new Proxy(kv, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        const result: unknown = Reflect.apply(member, target, args);
        if (result instanceof Promise) result.catch(() => undefined);
        return result;
      };
    },
  });
}

kvContract(
  { describe: describeTogether, it: itIfCertain },
  {
    name: "@deno/kv over KV Connect",
    KvU64,
    differences: denoClientDifferences,
    create: async () => {
      const kv = await openKv(":memory:", { compat: "deno" });
      const server = await serve(kv, { port: 0, tokens: [token] });
      const client = await openDenoKv(server.url, { accessToken: token });
      return {
        kv: withHandledRejections(client as unknown as Kv),
        dispose: async () => {
          // A second close is an error of this client.
          try {
            client.close();
          } catch {}
          await server.close();
          await kv.close();
        },
      };
    },
  },
);
