import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { etcdEngine } from "../../src/open-etcd.js";
import { describeEtcd, newPrefix } from "../server/shared-cluster.js";

describeEtcd("a connection that never gets an answer", 1, (cluster) => {
  it("is replaced by a new one", async () => {
    const port = Number(new URL(cluster().endpoints[0]!).port);
    const sockets: Socket[] = [];
    // The first connection is accepted, and then the network loses all of its bytes.
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      sockets.push(socket);
      if (sockets.length > 1) socket.pipe(connect(port, "127.0.0.1")).pipe(socket);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      const options = { endpoints: [endpoint], prefix: newPrefix(), deadline: 20_000 };
      const kv = await openKv(await etcdEngine(options));
      await kv.set(["a"], 1);
      expect((await kv.get(["a"])).value).toBe(1);
      expect(sockets.length).toBe(2);
      await kv.close();
    } finally {
      for (const socket of sockets) socket.destroy();
      server.close();
    }
  });
});
