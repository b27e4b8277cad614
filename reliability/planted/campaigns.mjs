import { Random } from "../shared/random.mjs";

/**
 * The campaigns that look for planted faults, in steps that are short.
 *
 * - `title` and `unit` are for the table. `unit` is one step.
 * - `most` and `seconds`, of CPU time, are the bounds of a hunt.
 * - `run` makes one step after another, and calls `visit` with the problems of each, until it
 *   returns false.
 */
export const campaigns = {
  calls: {
    title: "Concurrent clients",
    unit: "histories of calls",
    most: 600,
    seconds: 60,
    run: stepsOf(async () => {
      const { checkNewHistory, databases } = await import("../histories/histories.mjs");
      const all = Object.values(databases);
      return async (seed, i) => (await checkNewHistory(all[i % all.length], seed)).problems;
    }),
  },
  transactions: transactionsIn("memory", "in memory", 600),
  transactionsOnDisk: transactionsIn("leveldb", "on LevelDB", 600),
  transactionsOnSqlite: transactionsIn("sqlite", "on SQLite, in two processes", 100),
  races: {
    title: "Races",
    unit: "schedules",
    most: 20_000,
    seconds: 120,
    async run(seed, visit) {
      const { checkSchedule } = await import("../races/races.mjs");
      const print = console.error;
      // Handlers of the queue fail on purpose, and the queue prints their errors.
      console.error = () => undefined;
      try {
        for (let i = 0; ; i++) {
          const { name, problems } = await checkSchedule(seed + i);
          if (!visit(problems.map((problem) => `${name}: ${problem}`))) return;
        }
      } finally {
        console.error = print;
      }
    },
  },
  deno: differentialOf("compareWithDeno", "calls beside Deno KV", 60),
  queries: differentialOf("compareWithSql", "calls beside SQLite", 100),
  searches: differentialOf("compareSearches", "calls beside a list of rows", 3000),
  kill: {
    title: "A killed process",
    unit: "kills",
    size: 6,
    most: 60,
    seconds: 120,
    run: stepsOf(async () => {
      const { killsOfOneDatabase, killWork } = await import("../kill/kill-run.mjs");
      return async (seed) => (await killWork(killsOfOneDatabase, new Random(seed))).problems;
    }),
  },
  power: {
    title: "A power failure",
    unit: "power cuts",
    size: 8,
    most: 400,
    seconds: 120,
    run: stepsOf(async () => {
      const { cutPower } = await import("../power/cut-power.mjs");
      return async (seed, i) => {
        const random = new Random(seed);
        const durability = i % 2 === 0 ? "full" : "relaxed";
        const work = { durability, commits: 400, valueBytes: 40_000, cuts: 8, random };
        return (await cutPower(work)).problems;
      };
    }),
  },
  damage: {
    title: "Damaged files",
    unit: "damages",
    most: 2000,
    seconds: 120,
    async run(seed, visit) {
      const { DamagedDatabase, states } = await import("../damage/damaged-database.mjs");
      const database = await DamagedDatabase.create();
      try {
        for (let i = 0; ; i++) {
          const random = new Random(seed + i);
          if (!visit((await database.damage(states[i % states.length], random)).problems)) return;
        }
      } finally {
        await database.remove();
      }
    },
  },
  attached: {
    title: "Processes that are attached to the owner of a folder",
    unit: "kills",
    size: 3,
    most: 60,
    seconds: 120,
    run: stepsOf(async () => {
      const { killOwner } = await import("../attached/kill-owner.mjs");
      return async (seed) => (await killOwner(3, new Random(seed))).problems;
    }),
  },
  log: {
    title: "The log and backups",
    unit: "kills",
    size: 6,
    most: 60,
    seconds: 180,
    run: stepsOf(async () => {
      const { places } = await import("../log/places.mjs");
      const { runLog } = await import("../log/log-run.mjs");
      const place = places.leveldb;
      const server = await place.start();
      return async (seed) => {
        const work = { place, server, kills: 6, moments: 40, random: new Random(seed) };
        return (await runLog(work)).problems;
      };
    }),
  },
  messages: {
    title: "SQLite files",
    unit: "messages",
    size: 60,
    most: 3000,
    seconds: 120,
    run: stepsOf(async () => {
      const { deliverOnce } = await import("../sqlite/deliver-once.mjs");
      return async (seed) => await deliverOnce(new Random(seed));
    }),
  },
  jobs: {
    title: "Killed workers of jobs",
    unit: "jobs",
    size: 2000,
    most: 20_000,
    seconds: 120,
    run: stepsOf(async () => {
      const { orderProblems } = await import("../jobs/priority-run.mjs");
      return async () => (await orderProblems({ jobs: 2000 })).problems;
    }),
  },
};

/**
 * Returns the `run` of a campaign that needs nothing at its end.
 *
 * @param open returns a function that makes a step, by its seed and its number from 0, and returns
 * the problems.
 */
function stepsOf(open) {
  return async (seed, visit) => {
    const step = await open();
    for (let i = 0; visit(await step(seed + i, i)); i++);
  };
}

function transactionsIn(name, title, most) {
  return {
    title: "Concurrent clients",
    unit: `histories of transactions ${title}`,
    most,
    seconds: 120,
    async run(seed, visit) {
      const { inPlace } = await import("../histories/histories.mjs");
      const { places } = await import("../histories/transaction-places.mjs");
      await inPlace(places[name], async (check) => {
        for (let i = 0; ; i++) {
          const { isSerializable, problem } = await check(seed + i);
          if (!visit(isSerializable === false ? [problem] : [])) return;
        }
      });
    },
  };
}

function differentialOf(compare, unit, size) {
  return {
    title: "The same results as Deno KV and SQLite",
    unit,
    size,
    most: 60_000,
    seconds: 60,
    run: stepsOf(async () => {
      const differential = await import("../differential/differential.mjs");
      return async (seed) => (await differential[compare](size, seed)).differences;
    }),
  };
}
