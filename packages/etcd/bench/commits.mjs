// Prints how many commits etcd takes per second, on one and on three members of this machine.
import { openKv } from "@keywright/core";
import { etcdEngine } from "@keywright/etcd";
import { EtcdCluster } from "../test/server/etcd-cluster.mjs";

const seconds = Number(process.argv[2] ?? 5);

for (const size of [1, 3]) {
  const cluster = await EtcdCluster.start(size, { sync: true });
  try {
    const engine = await etcdEngine({ endpoints: cluster.endpoints, deadline: 30_000 });
    const kv = await openKv(engine);
    for (const inFlight of [1, 64, 256, 1024]) {
      const latencies = [];
      const end = performance.now() + seconds * 1000;
      const worker = async (id) => {
        for (let i = 0; performance.now() < end; i++) {
          const start = performance.now();
          const key = ["bench", inFlight, id, i];
          await kv.atomic().check({ key, versionstamp: null }).set(key, { id, i }).commit();
          latencies.push(performance.now() - start);
        }
      };
      await Promise.all(Array.from({ length: inFlight }, (_, id) => worker(id)));
      latencies.sort((a, b) => a - b);
      const rate = Math.round(latencies.length / seconds);
      const median = latencies[latencies.length >> 1].toFixed(1);
      const p99 = latencies[Math.floor(latencies.length * 0.99)].toFixed(1);
      console.log(
        `${size} members, ${inFlight} in flight: ${rate} commits/s, ${median} ms median, ${p99} ms p99`,
      );
    }
    await kv.close();
  } finally {
    await cluster.stop();
  }
}
