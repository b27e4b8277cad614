export const about = {
  title: "LMDB files",
  promise:
    "On LMDB, every acknowledged commit is there and whole after a killed process, also of a process that is attached to the killed one, and after a power failure, with both values of `durability`. The database opens after each of them. Damage never hides a row silently once the check of the entries has passed over it: a small file is checked while it is opened, a larger one in the background.",
  method:
    "Processes are killed while they work with models, and the owner of the file is killed under attached writers, as above. A library in C, loaded with `LD_PRELOAD`, records what a process with 64 commits in flight writes to the file, and when it syncs it. Then the files that a power failure may have left are constructed for random times: what was synced is there, and of the rest nothing, everything, the first writes, or any combination of sectors of 512 bytes. Each is opened and compared with the commits that were acknowledged, and all entries are checked. For damage, one bit is flipped or 4 KB are overwritten with zeros at a random place. Then the database must refuse to work, or have all entries, and no user may be created with an id or an email that exists.",
  limits:
    "LMDB does not expect damaged pages of its tree: it ends the process with an assertion or an invalid memory access instead of an error. Damage of a free page, or of the older of the two pages with the root, has no effect. The test of power failures needs Linux and a C compiler.",
  short: "4 kills, 2 kills of the owner, 12 power cuts and 24 damages",
  command: "npm run soak:lmdb -- --kills 500 --owners 50 --cuts 1000 --damages 5000",
  goals: [
    { unit: "kills", asked: 500, cpuSeconds: 1.1, ran: ({ kills }) => kills.kills },
    { unit: "power cuts", asked: 1000, cpuSeconds: 0.4, ran: ({ cuts }) => cuts.cuts },
    {
      unit: "damages",
      asked: 5000,
      ran: ({ damages }) => damages.reported + damages.nothing + damages.ended + damages.wrong,
    },
  ],
};
