export const about = {
  title: "The log and backups",
  promise:
    "A feed of changes, a replica that follows it and a backup have each acknowledged commit once and in order, whichever process is killed. Each moment that a backup has can be restored, and an earlier state that the log has can be read. Both equal the state after that commit. With relaxed durability, a power failure may lose commits that a backup has: the next backup notices it, and has to be full.",
  method:
    "Three processes work with one database: one writes, with 8 commits in flight, one builds a replica from the feed and stores its position with each commit, and one makes full and incremental backups and follows. They are killed with SIGKILL at random times, also while they open the database, and started again. On LevelDB and LMDB, another of them then becomes the owner. Restores of random moments are killed too: such a database is empty, whole, or refused until it was restored again. The writer prints each commit before and after it, from which the state after each commit follows. The feed, the replica, the restored databases, and at random moments the earlier states and what is restored from the backups, must equal that. The writer sets, deletes, adds, and sets entries that expire soon, mostly on the same few keys, and some of its commits are refused. For power failures, the file operations of a process with 64 commits in flight are recorded, as below, and so are the writes to an LMDB or SQLite file. The feed and the backup are on another machine. After the cut, further commits are made. Then the feed must continue with the next commit if durability is full, and the backup must be continued or made again, so that it has the state of the database. For failing disks, a program commits, follows the feed, makes full and incremental backups and restores one, in a process in which one call of the system fails, once or from then on, for the database or for the backups, or in which the disk is full. Calls are refused with a code. Afterwards the log has each acknowledged commit, the feed had none that the log has not, each acknowledged backup can be restored, and the next backup continues.",
  limits:
    "A feed whose reader has the versionstamp of a commit that was lost is not tested: it has to begin again. The tests of power failures and of failing disks need Linux and a C compiler; the first are made on LevelDB, LMDB and SQLite, the second on LevelDB.",
  short:
    "6 kills, with Node.js 22.13 or later 6 with an SQLite file, and 24 power cuts or, with SQLite, 36, and 30 runs with a call that fails",
  command: "npm run soak:log -- --kills 500 --cuts 200 --faults 500",
  goals: [
    { unit: "kills", asked: 500, ran: ({ kills }) => sumOf(kills) },
    { unit: "power cuts", asked: 200, ran: ({ cuts }) => cuts.full + cuts.relaxed },
    { unit: "failing calls", asked: 500, ran: ({ faults }) => faults?.faults ?? 0 },
    { unit: "moments compared", asked: 5000, ran: ({ moments }) => sumOf(moments) },
  ],
};

function sumOf(counts) {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
