export const about = {
  title: "Abandoned calls",
  promise:
    "What a program abandons is released: iterators, watches and live queries that it does not end, transactions that never return, and calls and snapshots that fail or are aborted. A closed database leaves no file, timer or memory.",
  method:
    "In rounds, a program abandons hundreds of each on a database in memory, on one in a folder and on an LMDB file, while they are changed. It opens, shares and closes databases, also ones that cannot be opened, and it writes the same rows again and again. After each round the garbage is collected. Memory, open files, timers, and the size of the folder must not grow from the middle round to the last, and no view of a database may be open.",
  limits:
    "A pending read of a watch keeps it, as a pending read of a socket would. So does a transaction whose function never returns, for as long as its promise is kept.",
  short: "4 rounds",
  command: "npm run soak:leaks -- --minutes 60",
  goals: [{ unit: "minutes in one run", asked: 60, ran: ({ minutes }) => minutes, isOneRun: true }],
};
