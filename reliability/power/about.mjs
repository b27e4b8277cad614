export const about = {
  title: "A power failure",
  promise:
    'With `durability: "full"`, every acknowledged commit is there after a power failure, and the database opens. With `"relaxed"`, the database holds a prefix of its commits, or opening it fails with `CorruptionError` until `keywright repair` has cut it back to such a prefix; it never has a gap. A power failure while a database is being created leaves a folder that can be opened.',
  method:
    "A library in C, loaded with `LD_PRELOAD`, records what a process does with its files while it has 64 commits in flight, some of which set thousands of keys: writes, syncs of files and of the folder, and the creation, renaming and deletion of files. Then the disks that a power failure may have left are constructed for random times, many of them between a change of the folder and its next sync. What was synced is there. The rest is lost, there in part, there with pages of zeros, or there in any combination. A new or renamed file of a folder that was not synced may be missing. The database is opened on each disk and compared with the commits that were acknowledged before. Half of the databases keep a log of their commits, which must make the same database. One process then continues on such a disk, and the power fails again.",
  limits:
    "The model assumes that a deletion does not reach the disk before an earlier renaming in the same folder. File systems with a journal keep this order. The test needs Linux and a C compiler.",
  short: "24 cuts",
  command: "npm run soak:power -- --cuts 1000",
  goals: [
    { unit: "power cuts", asked: 1000, ran: ({ full, relaxed }) => cutsOf(full) + cutsOf(relaxed) },
  ],
};

function cutsOf({ whole, prefix, refused, wrong }) {
  return whole + prefix + refused + wrong;
}
