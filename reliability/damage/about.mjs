export const about = {
  title: "Damaged files",
  promise:
    "A damaged file never hides a row silently once the check of the files has passed over the damage: from then on, every call fails with `CorruptionError`. If a process was killed, damage at the end of its log can hide the last commit, or as many at the end as the damage is long, and nothing else.",
  method:
    "A database with 1,700 users, a unique index and another one has several tables, a log, a manifest and a note of its close. One bit is flipped, or 4 KB are overwritten with zeros, at a random place of a random file: while the database is closed, while it is open (in tables, and then the files are verified), or after a process that did not close it (in its log). Then the database must refuse to work, or have all entries: each is listed and read by its key, and random users are found by id, by email and by team. No user may be created with an id or an email that exists. A damaged database is also rescued: all entries outside the reported ranges must have their last value, and no user a value that it never had.",
  short: "50 damages",
  command: "npm run soak:damage -- --damages 5000",
  goals: [
    {
      unit: "damages",
      asked: 5000,
      ran: ({ closed, open, killed }) => damagesOf(closed) + damagesOf(open) + damagesOf(killed),
    },
  ],
};

/** Each damage has one of these results. */
function damagesOf(results) {
  return Object.values(results).reduce((sum, count) => sum + count, 0);
}
