import { measure } from "mitata";

const usualCalls = 200;

/**
 * Measures one round of a case.
 *
 * @param milliseconds how long it takes at least, if the case does not say how many calls it makes.
 * @returns the nanoseconds of one operation.
 */
export async function measureRound(each, { store, context, state }, milliseconds) {
  if (each.isFixed) return await fixedRound(each, store, context);
  return await sampledRound(each, store, context, state, milliseconds);
}

async function fixedRound(each, store, context) {
  const { perRound, rowsOfOperation = 1 } = each;
  const inputs =
    (await each.prepare?.(store, context, perRound)) ??
    Array.from({ length: perRound }, () => each.input(context));
  const start = performance.now();
  for (const input of inputs) await each.run(store, input);
  return ((performance.now() - start) * 1e6) / (perRound * rowsOfOperation);
}

async function sampledRound(each, store, context, state, milliseconds) {
  const { perCall = usualCalls, inFlight } = each;
  const bench = async (inputs) => {
    if (inFlight === undefined) await oneAfterAnother(inputs);
    else await together(inputs, inFlight);
  };
  const oneAfterAnother = async (inputs) => {
    for (const input of inputs) {
      const answer = each.run(store, input);
      // Some contenders are synchronous.
      if (answer instanceof Promise || typeof answer?.then === "function") await answer;
    }
  };
  const together = async (inputs, count) => {
    let next = 0;
    const inTurn = async () => {
      while (next < inputs.length) await each.run(store, inputs[next++]);
    };
    await Promise.all(Array.from({ length: count }, inTurn));
  };
  const { avg } = await measure(
    function* benchmark() {
      const inputs = () => Array.from({ length: perCall }, () => each.input(context, state));
      yield { 0: inputs, bench };
    },
    {
      gc: false,
      min_cpu_time: milliseconds * 1e6,
      min_samples: 2,
      // Keeps all samples: a stall of every hundredth operation is part of the cost.
      samples_threshold: Number.POSITIVE_INFINITY,
    },
  );
  return avg / perCall;
}
