import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKv } from "@keywright/core";
import { Random } from "../shared/random.mjs";
import { checkHistory } from "./check-history.mjs";
import { recordHistory } from "./record-history.mjs";

/** The databases whose histories are recorded. */
export const databases = {
  "in memory": () => openKv(),
  "in Deno's mode": () => openKv(":memory:", { compat: "deno" }),
  "on LevelDB": openOnDisk,
};

async function openOnDisk() {
  const folder = await mkdtemp(join(tmpdir(), "keywright-history-"));
  const kv = await openKv(folder, { durability: "relaxed" });
  const close = kv.close.bind(kv);
  kv.close = async () => {
    await close();
    await rm(folder, { recursive: true });
  };
  return kv;
}

/**
 * Records a history of a new database and checks it.
 *
 * @param open opens the database.
 * @param seed determines what the clients do, but not in which order their calls end.
 * @returns the number of calls, and what is wrong.
 */
export async function checkNewHistory(open, seed) {
  const random = new Random(seed);
  const kv = await open();
  try {
    const size = { clients: 2 + random.below(15), calls: 10 + random.below(40) };
    const history = await recordHistory(kv, { random, ...size });
    return { calls: size.clients * size.calls, problems: checkHistory(history) };
  } finally {
    await kv.close();
  }
}
