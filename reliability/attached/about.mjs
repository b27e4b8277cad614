export const about = {
  title: "Processes that are attached to the owner of a folder",
  promise:
    "If the process that owns a folder is killed, no commit that it has acknowledged to another process is lost, and no commit is made twice, also not one whose answer was lost.",
  method:
    "A process owns a folder. Another one is attached to it and makes commits, 64 at a time, each of which sets a key of its own and adds one to a counter. The owner is killed at a random moment, and a new one is started, again and again. In the end, the keys are those of the acknowledged commits with their versionstamps, and the counter is their number.",
  limits:
    "If no owner is started within five seconds, a commit whose answer was lost fails with `AmbiguousCommitError`.",
  short: "3 kills",
  command: "npm run soak:attached -- --kills 50",
  goals: [{ unit: "kills", asked: 50, ran: ({ kills }) => kills }],
};
