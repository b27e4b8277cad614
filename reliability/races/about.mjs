export const about = {
  title: "Races",
  promise:
    "Whatever the order in which reads and writes of the storage end: results are strictly serializable, a watch delivers the last state, an acknowledged message is delivered at least once, and once if nothing ends, closing a database ends every call with a result or a typed error, transactions lose no update, one row has each unique value, and an index that is built beside writers matches the rows, also if another program takes the migration over.",
  method:
    "A database in memory runs on a storage whose calls wait before and after they take effect. The scheduler of fast-check chooses which of the waiting calls continues, so that commits, watches, the queue, transactions, migrations and the end of the database meet in every order. Half of the databases read single keys synchronously, as on disk. A seed determines the scenario, the clients and the order, and `--seed` repeats it. Only pauses between attempts and deliveries follow the clock. The checks are tested with planted faults.",
  short: "2,000 schedules",
  command: "npm run soak:races -- --schedules 1000000",
  goals: [
    { unit: "schedules", asked: 1_000_000, cpuSeconds: 0.0044, ran: ({ schedules }) => schedules },
  ],
};
