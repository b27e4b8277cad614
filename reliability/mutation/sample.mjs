// A plugin of Stryker that mutates only a random sample of the functions.
const { fraction, seed } = JSON.parse(process.env.KEYWRIGHT_SAMPLE ?? '{"fraction":1,"seed":0}');

/** A number from 0 to below 1 that depends only on the seed and the place of a function. */
function chance({ start, end }) {
  let hash = seed;
  for (const part of [start.line, start.column, end.line, end.column])
    hash = Math.imul(hash ^ (hash >>> 15) ^ part, 0x9e3779b1);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}

const sample = {
  shouldIgnore(path) {
    const isOutermost = path.isFunction() && path.getFunctionParent() === null;
    return isOutermost && chance(path.node.loc) >= fraction ? "not in the sample" : undefined;
  },
};

export const strykerPlugins = [{ kind: "Ignore", name: "sample", value: sample }];
