import { Server, ServerCredentials } from "@grpc/grpc-js";
import { AmbiguousCommitError, EngineUnavailableError, openKv } from "@keywright/core";
import { describe, expect, it } from "vitest";
import { methodOf } from "../../src/client/etcd-protocol.js";
import { EtcdRefusedError, EtcdVersionError } from "../../src/errors/etcd-errors.js";
import { type EtcdEngineOptions, etcdEngine } from "../../src/open-etcd.js";
import { Gate } from "../server/gate.mjs";
import { describeEtcd, newPrefix } from "../server/shared-cluster.js";

const portOf = (url: string) => Number(new URL(url).port);

/** Waits until a member answers. */
async function answer(endpoint: string): Promise<void> {
  const engine = await etcdEngine({ endpoints: [endpoint], deadline: 30_000 });
  await engine.close();
}

/** Calls `test` with a gate in front of a port. No connection of it may stay open. */
async function withGate(port: number, test: (gate: Gate, endpoint: string) => Promise<void>) {
  const gate = await Gate.start(port);
  try {
    await test(gate, `http://127.0.0.1:${gate.port}`);
    await expect.poll(() => gate.connections).toBe(0);
  } finally {
    await gate.stop();
  }
}

describe("a member of a version that loses data", () => {
  it("is refused with the version that to update to", async () => {
    const server = new Server();
    let version = "3.5.3";
    server.addService(
      { Status: methodOf("Maintenance.Status") },
      {
        Status: (_: unknown, answer: (error: null, response: object) => void) =>
          answer(null, { version }),
      },
    );
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) =>
        error ? reject(error) : resolve(port),
      );
    });
    try {
      await withGate(port, async (gate, endpoint) => {
        for (version of ["3.5.0", "3.5.5", "3.3.27"]) {
          const opening = etcdEngine({ endpoints: [endpoint], deadline: 5000 });
          const error = await opening.catch((thrown: unknown) => thrown);
          expect(error).toBeInstanceOf(EtcdVersionError);
          expect(error).toMatchObject({ code: "KW_ETCD_VERSION_UNSUPPORTED", version, endpoint });
          expect((error as Error).message).toContain("Update all members to");
          expect(gate.connections).toBeLessThanOrEqual(1);
        }
      });
    } finally {
      server.forceShutdown();
    }
  });
});

describeEtcd("a failure", 1, (cluster) => {
  it("while a database is opened leaves no connection open", async () => {
    await withGate(portOf(cluster().endpoints[0]!), async (gate, endpoint) => {
      const options = { endpoints: [endpoint], deadline: 500 };
      const wrong: [EtcdEngineOptions, code: string, remedy: string][] = [
        [
          { ...options, endpoints: [endpoint.replace("http:", "https:")] },
          "KW_ENGINE_UNAVAILABLE",
          "https:// if etcd uses TLS",
        ],
        [
          { ...options, user: "ada", password: "wrong" },
          "KW_ETCD_ACCESS_DENIED",
          "Check the options user and password",
        ],
      ];
      for (const [each, code, remedy] of wrong) {
        const error = await etcdEngine(each).catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ code });
        expect((error as Error).message).toContain(remedy);
        await expect.poll(() => gate.connections).toBe(0);
      }
      gate.cut();
      await expect(etcdEngine(options)).rejects.toThrow(EngineUnavailableError);
      gate.open();
    });
  });
});

describeEtcd(
  "a request that is larger than a member accepts",
  1,
  (cluster) => {
    it("is refused, and the commits of the same time are made", async () => {
      await withGate(portOf(cluster().endpoints[0]!), async (_, endpoint) => {
        const kv = await openKv(await etcdEngine({ endpoints: [endpoint], prefix: newPrefix() }));
        try {
          const large = kv.set(["large"], new Uint8Array(600_000));
          const small = Array.from({ length: 50 }, (_, i) => kv.set(["small", i], i));
          const error = await large.catch((thrown: unknown) => thrown);
          expect(error).toBeInstanceOf(EtcdRefusedError);
          expect((error as Error).message).toContain("pass the server's --max-request-bytes");
          await Promise.all(small);
          expect((await kv.get(["large"])).versionstamp).toBeNull();
          expect((await kv.get(["small", 49])).value).toBe(49);
        } finally {
          await kv.close();
        }
      });
    });
  },
  { args: ["--max-request-bytes", "524288"] },
);

describeEtcd(
  "a cluster that has lost most of its members",
  3,
  (cluster) => {
    it("fails all calls with a remedy, and continues when the members are back", async () => {
      const { endpoints, members, gates } = cluster();
      const options = { endpoints, prefix: newPrefix(), deadline: 3000 };
      const kv = await openKv(await etcdEngine(options));
      try {
        await kv.set(["before"], 1);
        const watch = kv.watch([["after"]]).getReader();
        await watch.read();
        const lost = members.slice(1);
        for (const member of lost) await member.stop();
        const failures = await Promise.all(
          [
            kv.get(["before"]),
            kv.getMany([["before"], ["after"]]),
            kv.set(["during"], 1),
            etcdEngine({ ...options, endpoints: members.map(({ endpoint }) => endpoint) }),
          ].map((call) => call.catch((thrown: unknown) => thrown)),
        );
        for (const error of failures) {
          const isAmbiguous = error instanceof AmbiguousCommitError;
          expect(isAmbiguous || error instanceof EngineUnavailableError).toBe(true);
          const remedy = isAmbiguous ? "Read" : "Check that most members of the cluster run";
          expect((error as Error).message).toContain(remedy);
        }
        // A commit fails as reads do if it certainly was not made.
        await expect(kv.set(["during"], 2)).rejects.toThrow(EngineUnavailableError);
        for (const member of lost) member.start();
        const retry = async (): Promise<void> => {
          await kv.set(["after"], 1).catch(retry);
        };
        await retry();
        const { value } = await watch.read();
        expect(value?.[0]?.value).toBe(1);
        // A connection that a starting member has accepted closes only when the member answers.
        for (const { endpoint } of lost) await answer(endpoint);
      } finally {
        await kv.close();
      }
      for (const gate of gates.clients) await expect.poll(() => gate.connections).toBe(0);
    });
  },
  { isDivisible: true },
);
