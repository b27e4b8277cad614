import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { cases } from "../cases.mjs";
import { contenders } from "../contenders/index.mjs";
import { openStore } from "../measure/open-stores.mjs";

const count = 300;
let folder;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keywright-benchmarks-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Those in the folder `peers` are verified before they are measured. */
const light = contenders.filter(({ isHeavy }) => isHeavy !== true);

describe.each(light)("$name", (contender) => {
  let opened;

  beforeAll(async () => {
    opened = await openStore(contender, folder, count);
  });

  afterAll(async () => {
    await opened.store.close();
  });

  it.each(cases)("$title", async ({ needs, verify }) => {
    if (opened.store[needs] === undefined) return;
    await verify(opened.store, opened.context);
  });
});
