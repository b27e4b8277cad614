export const about = {
  title: "A disk that fails or is full",
  promise:
    "If the operating system refuses a call, the program gets an error with a code. Every acknowledged commit is there when the database is opened again, and a refused call happened completely or not at all. No call waits for ever, and the process continues: it can close the database and open it again.",
  method:
    "A library in C, loaded with `LD_PRELOAD`, lets a call for the files of the database fail: to open, read, write, sync, rename, delete, shorten or map a file, or to create a folder. A script creates a database, works with four models, a queue and a watch, closes the database, opens it with a new schema, migrates it and works again. It is run for the first call of each kind, for the second, and so on: with EIO, ENOSPC, EMFILE or ENOMEM, once, from then on, or for all kinds of calls from then on. It is also run with a disk that is full after some bytes, with a limit of the size of files, and with few file descriptors. Then the database is opened in the same process without faults. All rows, messages, index entries, references and counters are compared with what was acknowledged.",
  limits:
    "After a write that has failed, the database accepts no more commits until it is opened again. The test needs Linux and a C compiler.",
  short: "one fault for each call of the script",
  command: "npm run soak:io-faults",
  goals: [{ unit: "runs with a fault", asked: 500, ran: ({ faults }) => faults }],
};
