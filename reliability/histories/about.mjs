/** The places in which transactions are recorded, and how many histories are asked for there. */
const transactionsAsked = {
  "in memory": 2000,
  "on LevelDB": 2000,
  "on LMDB, in two processes": 200,
  "in two processes that are attached to a third": 200,
  "in two processes whose owner is killed": 30,
  "on etcd": 200,
  "on etcd, whose leader is killed": 30,
  "on PostgreSQL": 200,
  "on PostgreSQL, which is killed or loses all connections": 30,
};

export const about = {
  title: "Concurrent clients",
  promise:
    "All calls on one database are strictly serializable: they have the results that they would have one after another, in an order in which no call comes before one that had ended when it began. Versionstamps are in this order. The same is true of transactions of models, whatever they read: rows, queries, counts and sums.",
  method:
    "2 to 16 clients read, list, check and commit the same five keys at the same time, on a database in memory, in Deno's mode and on LevelDB. Their calls are recorded. Then the commits are applied one after another to a map, in the order of their versionstamps. Each commit, each refusal and each read must be right for a state of the map that existed between its start and its end. The check itself is tested with databases that lose updates, lose commits, return values that were not committed, return old or torn values, and refuse commits without a reason. For transactions, 2 to 16 clients read and write two models at the same time in transactions and single calls: rows by their keys, the rows of a list, their number and sums, and updates and deletes of a whole list. Rows move between lists, expire after some milliseconds, and transactions are aborted. On LMDB, etcd and PostgreSQL and with attached processes, the clients are in two processes, with one or two connections each. In some histories, the leader of three members of etcd, the PostgreSQL server, all its connections or the owner of the folder is killed. A search then looks for an order in which a plain array of rows gives each of these results. A commit of unknown outcome may have been made or not. The search shares no code with the ORM. It is tested with databases that leave out checks of keys or of ranges, ignore deletes in a range, do not notice that an entry has expired, give views of several states or of an old one, make commits twice, in part, or not at all, and report commits that they have made as refused, failed or unknown.",
  limits:
    "A history on LevelDB showed a row 28 ms after its time, because this time stops while a commit is written. So rows on a disk may expire up to a second later.",
  short: "75 histories of calls and 21 of transactions",
  command: "npm run soak:histories -- --histories 2000",
  goals: [
    { unit: "histories", asked: 2000, ran: ({ histories }) => histories },
    ...Object.entries(transactionsAsked).map(([place, asked]) => ({
      unit: `histories of transactions ${place}`,
      asked,
      ran: ({ transactions }) => transactions?.databases[place] ?? 0,
    })),
  ],
};
