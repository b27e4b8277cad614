import { contender, ofKind, ratio, table, times } from "./figures.mjs";

/** The peers by the beginning of their contenders' names, and what the table calls them. */
const peers = {
  "drizzle-prepared": "Drizzle, prepared",
  drizzle: "Drizzle, built",
  kysely: "Kysely",
  prisma: "Prisma",
  "deno-kv": "`@deno/kv`, by hand",
  "lmdb-by-hand": "`lmdb`, by hand",
  dexie: "Dexie",
};

/** A table of how many times as fast Keywright's best engine is as each peer. */
export function besidePeers(chosen, figures) {
  const rows = chosen.map(({ title, figure }) => {
    const rounds = figures[figure];
    const [ours] = ofKind(rounds, "keywright");
    return [
      title,
      ...Object.keys(peers).map((peer) => {
        const theirs = roundsOf(rounds, peer);
        return ours === undefined || theirs === undefined ? "" : times(ratio(ours.times, theirs));
      }),
    ];
  });
  return table(["", ...Object.values(peers)], rows);
}

/** The rounds of a peer. One with another durability has a name that ends with it. */
function roundsOf(rounds, peer) {
  const name = [peer, `${peer}-relaxed`].find((each) => rounds[each] !== undefined);
  return name !== undefined && contender(name)?.kind === "peer" ? rounds[name] : undefined;
}
