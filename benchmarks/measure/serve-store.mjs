import { measureRound } from "./measure-round.mjs";
import { openStore } from "./open-stores.mjs";

/**
 * Opens the store of one contender in this process and answers the calls of a `StoreProcess`, one
 * after another. The name of the contender is the first argument of the program.
 */
export function serveStore(contenders, cases) {
  const contender = contenders.find(({ name }) => name === process.argv[2]);
  const caseOf = (name) => cases.find((each) => each.name === name);
  let opened;
  const calls = {
    open: async (folder, count, parts) => {
      opened = await openStore(contender, folder, count, parts);
      return Object.keys(opened.store).filter((name) => opened.store[name] !== undefined);
    },
    prepare: async (name) => {
      const each = caseOf(name);
      await each.verify(opened.store, opened.context);
      opened.state = await each.setUp?.(opened.store, opened.context);
    },
    measure: (name, milliseconds) => measureRound(caseOf(name), opened, milliseconds),
    close: () => opened.store.close(),
  };
  const answer = async (call, args) => {
    try {
      process.send({ result: await calls[call](...args) });
    } catch (error) {
      process.send({ error: error?.stack ?? String(error) });
    }
  };
  process.on("message", ({ call, args }) => {
    void answer(call, args);
  });
  // The program that measures has ended, in whichever way.
  process.on("disconnect", () => process.exit());
}
