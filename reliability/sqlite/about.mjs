export const about = {
  title: "SQLite files",
  promise:
    'On SQLite, every acknowledged commit is there and whole after a killed process, and, with `durability: "full"`, after a power failure. With `"relaxed"`, the file holds a prefix of the commits after a power failure. It is never damaged, and it opens. Programs that listen to one queue deliver each message once, unless one of them ends.',
  method:
    "Processes are killed while they work with models, as above. A library in C, loaded with `LD_PRELOAD`, records what a process with 64 commits in flight writes to the file and to its log (`-wal`), when it syncs them and their folder, and when it creates or deletes the log. Then the files that a power failure may have left are constructed for random times: what was synced is there, and of the rest nothing, everything, the first writes to each file, or any combination of sectors of 512 bytes. Each pair of files is opened and compared with the commits that were acknowledged, and all entries are checked. One process then continues with such files, and the power fails again. Three programs enqueue messages in one file, and count their deliveries.",
  limits:
    "The file exists before the process is started, so a power failure while it is being created is not tested. The runs need a Node.js with `node:sqlite`, and those of power failures also Linux and a C compiler.",
  short: "24 power cuts and 60 messages",
  command: "npm run soak:sqlite -- --kills 500 --cuts 1000",
  goals: [
    { unit: "kills", asked: 500, cpuSeconds: 1.4, ran: ({ kills }) => kills.kills },
    { unit: "power cuts", asked: 1000, ran: ({ full, relaxed }) => full.cuts + relaxed.cuts },
  ],
};
