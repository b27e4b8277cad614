// Measures one contender in a process of its own, and writes the figures to its standard output.
//
// `node measure.mjs contender documents [url]`
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { documents } from "./corpus.mjs";
import { comparedQueries, queriesOf } from "./queries.mjs";

const [name, count, url] = process.argv.slice(2);
const contender = await import(`./contenders/${name}.mjs`);
const docs = documents(Number(count));
const take = 20;
const rounds = 5;
const batch = 1000;
const creates = 200;

/** A text of 200 words, from several definitions. */
function longDocument(i) {
  const words = [];
  for (let at = (i * 37) % docs.length; words.length < 200; at = (at + 1) % docs.length)
    words.push(...docs[at].body.split(" "));
  const id = String(9_000_000 + i);
  return { id, title: `New ${i}`, body: words.slice(0, 200).join(" ") };
}

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Returns milliseconds of the clock and of the processor. */
async function timed(run) {
  const start = performance.now();
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return { milliseconds: performance.now() - start, processor: (user + system) / 1000 };
}

async function inFolder(options, run) {
  const folder = await mkdtemp(join(tmpdir(), "search-"));
  try {
    const store = await contender.open(folder, { ...options, url });
    try {
      return await run(store);
    } finally {
      await store.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function loaded(store) {
  return await timed(async () => {
    for (let i = 0; i < docs.length; i += batch) await store.load(docs.slice(i, i + batch));
  });
}

/** Returns the median of the searches, and of the time of the processor. */
async function searchTimes(store, queries) {
  const times = [];
  for (let round = 0; round < rounds; round++)
    for (const query of queries) times.push(await timed(() => store.search(query, take)));
  return {
    milliseconds: median(times.map(({ milliseconds }) => milliseconds)),
    processor: times.reduce((sum, { processor }) => sum + processor, 0) / times.length,
  };
}

/** Returns the median of the creates of one long document after another. */
async function createTimes(store) {
  const times = [];
  for (let i = 0; i < creates; i++) times.push(await timed(() => store.create(longDocument(i))));
  return {
    milliseconds: median(times.map(({ milliseconds }) => milliseconds)),
    processor: times.reduce((sum, { processor }) => sum + processor, 0) / creates,
  };
}

/** Undefined if the contender has nothing but the index. */
const plain =
  contender.keepsTexts === false
    ? undefined
    : await inFolder({ hasIndex: false }, async (store) => {
        await loaded(store);
        const create = await createTimes(store);
        await store.finish();
        return { create, bytes: await store.bytes() };
      });

const figures = await inFolder({ hasIndex: true }, async (store) => {
  const load = await timed(async () => {
    await loaded(store);
    await store.finish();
  });
  const searches = {};
  for (const [kind, queries] of Object.entries(queriesOf(docs))) {
    if (!store.canAnswer(queries[0])) continue;
    searches[kind] = await searchTimes(store, queries);
  }
  const results = [];
  for (const query of comparedQueries(docs)) results.push(await store.search(query, 10));
  const create = await createTimes(store);
  const kind = "a common word";
  searches[`${kind} after ${creates} creates`] = await searchTimes(store, queriesOf(docs)[kind]);
  await store.finish();
  return { load, searches, results, create, bytes: await store.bytes() };
});

process.stdout.write(JSON.stringify({ title: contender.title, plain, ...figures }));
