import { AbandonedCalls } from "./abandon.mjs";
import { growth, measure } from "./measure.mjs";

/**
 * Abandons calls in rounds and compares what the process holds after the middle round with what it
 * holds after the last.
 *
 * @param isOver is given the number of rounds that were made, after each pair of them.
 */
export async function abandonInRounds(count, isOver) {
  const calls = await AbandonedCalls.open();
  try {
    const measured = [];
    do {
      for (let i = 0; i < 2; i++) {
        await calls.abandon(count);
        measured.push(await measure(calls));
      }
    } while (!isOver(measured.length));
    const middle = measured[measured.length / 2 - 1];
    const last = measured.at(-1);
    return { rounds: measured.length, middle, last, problems: growth(middle, last) };
  } finally {
    await calls.close();
  }
}
