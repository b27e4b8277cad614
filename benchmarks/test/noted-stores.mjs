// Contenders that note their calls in a file, and cases in which they fail.
import { appendFileSync } from "node:fs";
import { join } from "node:path";

const names = ["first", "second"];

export const contenders = names.map((name) => ({
  name,
  durability: "none",
  open: (path) => {
    const note = (call) =>
      appendFileSync(join(path, "..", "calls"), `${name} ${call} ${process.pid}\n`);
    note("open");
    return {
      note,
      load: () => undefined,
      fail: (how) => {
        if (name !== "second") return;
        if (how === "exit") process.exit(3);
        throw new RangeError("the store is full");
      },
      // Keeps the process alive and never answers.
      hang: () => {
        console.log("hangs");
        setInterval(() => undefined, 1_000_000);
        return new Promise(() => undefined);
      },
      close: () => note("close"),
    };
  },
}));

const noted = {
  needs: "note",
  isFixed: true,
  perRound: 1,
  input: () => undefined,
  verify: (store) => store.note("verify"),
};

export const cases = [
  { ...noted, name: "notes", run: (store) => store.note("run") },
  { ...noted, name: "throws", run: (store) => store.fail("throw") },
  { ...noted, name: "exits", run: (store) => store.fail("exit") },
  { ...noted, name: "hangs", run: (store) => store.hang() },
];
