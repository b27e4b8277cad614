export const about = {
  title: "A killed process",
  promise:
    "If a process is killed, every acknowledged call is there, and no call is there in part. A log of commits has each of them. This holds for both values of `durability`.",
  method:
    "A process works with four models, with 64 calls in flight: creates, updates, deletes that cascade, and transactions. It prints each call before and after it. It is killed with SIGKILL at a random time, also while it opens the database, or kills itself right after an acknowledgement. Then all rows are compared with what was printed. A call without an acknowledgement may have happened or not. The third and later processes of a database have a new schema, so they are killed while they migrate. At the end the migration is completed, and all index entries, references and counters are verified. Half of the databases keep a log of their commits. All of it is then applied to an empty map, which must equal the database.",
  short: "6 kills, and with Node.js 22.13 or later 6 with an SQLite file",
  command: "npm run soak:kill -- --kills 2000",
  goals: [{ unit: "kills", asked: 2000, cpuSeconds: 1.2, ran: ({ kills }) => kills }],
};
