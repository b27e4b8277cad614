export const about = {
  title: "Concurrent clients",
  promise:
    "All calls on one database are strictly serializable: they have the results that they would have one after another, in an order in which no call comes before one that had ended when it began. Versionstamps are in this order.",
  method:
    "2 to 16 clients read, list, check and commit the same five keys at the same time, on a database in memory, in Deno's mode and on LevelDB. Their calls are recorded. Then the commits are applied one after another to a map, in the order of their versionstamps. Each commit, each refusal and each read must be right for a state of the map that existed between its start and its end. The check itself is tested with databases that lose updates, lose commits, return values that were not committed, return old or torn values, and refuse commits without a reason.",
  short: "75 histories",
  command: "npm run soak:histories -- --histories 2000",
  goals: [{ unit: "histories", asked: 2000, ran: ({ histories }) => histories }],
};
