import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type Kv, openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { postgresEngine } from "../../src/index.js";
import { PostgresServer } from "../server/postgres-server.js";
import { describeOnServer } from "../server/shared-server.js";

const main = fileURLToPath(new URL("../../../../examples/cities/dist/main.js", import.meta.url));
const total = 135_233;
/** The example continues a load from here, because a whole one takes a minute. */
const first = 131_000;

interface Progress {
  readonly loaded: number;
  readonly total: number;
}

const progressKey = ["cities_load"];

async function count(kv: Kv, prefix: string): Promise<number> {
  let entries = 0;
  for await (const _ of kv.list({ prefix: [prefix] }, { batchSize: 500 })) entries++;
  return entries;
}

describeOnServer("the example with the cities", () => {
  it("loses no city and does not fail while the server is killed in the middle", async () => {
    const server = await PostgresServer.start();
    const kv = await openKv(
      await postgresEngine({ connectionString: server.url, prefix: "cities" }),
    );
    try {
      await kv.set(progressKey, { loaded: first, total } satisfies Progress);
      const child = spawn(process.execPath, [main, "--engine", "postgres", server.url]);
      let output = "";
      for (const stream of [child.stdout, child.stderr]) {
        stream.on("data", (text) => {
          output += text;
        });
      }
      const ended = once(child, "close");
      const changes = kv.watch<[Progress]>([progressKey]).getReader();
      const killInTheMiddle = async () => {
        let loaded = first;
        while (loaded === first) loaded = (await changes.read()).value?.[0].value?.loaded ?? total;
        await server.kill();
        await server.run();
        return loaded;
      };
      const killed = killInTheMiddle();
      const [code] = await ended;
      expect(output).toContain("4,233 rows indexed and verified");
      expect(code).toBe(0);
      expect(await killed).toBeLessThan(total);
      const names = [
        "cities",
        ...["city_id", "country", "population"].map((n) => `cities_by_${n}`),
      ];
      for (const name of names) expect(await count(kv, name), name).toBe(total - first);
    } finally {
      await kv.close();
      await server.remove();
    }
  });
});
