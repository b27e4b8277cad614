import { expect, it } from "vitest";
import { Random } from "../shared/random.mjs";
import { killOwner } from "./kill-owner.mjs";

it.skipIf(process.platform === "win32")(
  "no acknowledged commit of an attached process is lost, and none is made twice",
  async () => {
    const { commits, problems } = await killOwner(3, new Random(7));
    expect(problems).toEqual([]);
    expect(commits).toBeGreaterThan(64);
  },
);
