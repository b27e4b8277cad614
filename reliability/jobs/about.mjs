const sum = (counts) => Object.values(counts).reduce((all, count) => all + count, 0);

export const about = {
  title: "Killed workers of jobs",
  promise:
    "A job is stored by the commit of its transaction, or not at all. No job is lost. What a handler " +
    "writes in `transaction` of its context is committed exactly once. A job that always fails ends in " +
    "the list of failed jobs. The counts of jobs are exact.",
  method:
    "Four processes enqueue jobs, each in a transaction with a row, and run them at the same time; " +
    "those with a LevelDB folder or an LMDB file are attached to one of them. Random ones are killed " +
    "with SIGKILL, also the owner, and started again. Most handlers write a receipt in the transaction that " +
    "completes the job, some write it by themselves, some throw before or after it, and some always " +
    "throw. At the end each order has exactly one receipt (those that commit by themselves at least " +
    "one), the failed jobs are those that always throw, all counts are right, and all indexes are " +
    "verified. In a run without kills, four workers with 10 jobs each begin 2,000 jobs of four priorities, " +
    "and at most 320 jobs of a higher priority begin after any job.",
  limits:
    "The kills begin with the processes, so a few of them hit a process before it has opened the database.",
  short: "500 jobs with 4 kills on LevelDB, and on SQLite if Node.js has it",
  command: "npm run soak:jobs -- --jobs 1000000 --kills 100",
  goals: [
    { unit: "jobs", asked: 1_000_000, cpuSeconds: 0.018, ran: ({ jobs }) => sum(jobs) },
    { unit: "kills of workers", asked: 100, ran: ({ kills }) => sum(kills) },
  ],
};
