// `npm run bench:quick`: measures each case for a short time, and prints which ratios of Keywright to
// others differ by more than 20 % from those that are stored. One library stands for all on SQLite,
// and it is left out if it is not installed. The rounds are short, and a busy machine moves ratios
// too, so measure again before you believe one.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cases } from "./cases.mjs";
import { contenders } from "./contenders/index.mjs";
import { isInstalled } from "./contenders/peer.mjs";
import { runCases } from "./measure/run-cases.mjs";
import { contender, ofKind, ratio, resultsOf, times } from "./page/figures.mjs";

const size = 10_000;
const effort = { rounds: 2, milliseconds: 10 };
/** All others would take more than two minutes. */
const quick = [
  ...["keywright-memory", "keywright-level", "keywright-level-relaxed", "keywright-lmdb"],
  ...["raw-level", "lmdb-by-hand", "drizzle-prepared", "drizzle-prepared-relaxed"],
];
const most = 1.2;

const stored = resultsOf(`cases-${size}`).figures;
const folder = await mkdtemp(join(tmpdir(), "keywright-bench-"));
try {
  const chosen = contenders.filter(
    ({ name, isHeavy }) => quick.includes(name) && (isHeavy !== true || isInstalled()),
  );
  const figures = await runCases(cases, chosen, {
    folder,
    count: size,
    effort,
    note: () => undefined,
  });
  const moved = ratios(figures).filter(({ before, now }) => isMoved(before, now));
  for (const { figure, name, other, before, now } of moved)
    console.log(
      `${figure}: ${contender(name).title} is ${times(now)} as fast as ${contender(other).title}, stored ${times(before)}`,
    );
  console.log(`${moved.length} of ${ratios(figures).length} ratios moved by more than 20 %.`);
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** The ratio of each engine of Keywright to the contender that is fastest in the stored results. */
function ratios(figures) {
  return Object.entries(figures).flatMap(([figure, rounds]) => {
    const before = stored[figure];
    if (before === undefined) return [];
    const other = [...ofKind(before, "peer"), ...ofKind(before, "limit")].find(
      ({ name }) => rounds[name] !== undefined,
    )?.name;
    if (other === undefined) return [];
    return ofKind(rounds, "keywright")
      .filter(({ name }) => before[name] !== undefined)
      .map(({ name, times: ours }) => ({
        figure,
        name,
        other,
        before: ratio(before[name], before[other]),
        now: ratio(ours, rounds[other]),
      }));
  });
}

function isMoved(before, now) {
  return now > before * most || now < before / most;
}
