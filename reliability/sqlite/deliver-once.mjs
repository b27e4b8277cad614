import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase } from "../shared/open-database.mjs";

const programs = 3;
const messagesOfProgram = 20;
/** The time in milliseconds after which a message counts as lost. */
const patience = 60_000;

/**
 * Opens a file several times, as several programs do, each of which enqueues messages and listens.
 * Each message is then delivered once, because none of them ends.
 *
 * @returns what is wrong in words.
 */
export async function deliverOnce(random) {
  const folder = await mkdtemp(join(tmpdir(), "keywright-messages-"));
  const deliveries = new Map();
  const kvs = [];
  try {
    for (let i = 0; i < programs; i++)
      kvs.push(await openDatabase(join(folder, "kv.sqlite"), { durability: "relaxed" }));
    const listening = kvs.map((kv) =>
      kv.listenQueue(async (message) => {
        deliveries.set(message, (deliveries.get(message) ?? 0) + 1);
        await sleep(random.below(5));
      }),
    );
    const sender = async (kv, i) => {
      for (let n = 0; n < messagesOfProgram; n++) {
        await kv.enqueue(`${i}/${n}`);
        await sleep(random.below(3));
      }
    };
    await Promise.all(kvs.map(sender));
    const all = programs * messagesOfProgram;
    for (const end = Date.now() + patience; deliveries.size < all && Date.now() < end; )
      await sleep(10);
    for (const kv of kvs) await kv.close();
    await Promise.all(listening);
    const repeated = [...deliveries].filter(([, count]) => count > 1).map(([message]) => message);
    return [
      ...(deliveries.size < all ? [`lost: ${all - deliveries.size} messages`] : []),
      ...repeated.map((message) => `twice: the message ${message}`),
    ];
  } finally {
    await Promise.all(kvs.map((kv) => kv.close()));
    await rm(folder, { recursive: true, force: true });
  }
}
