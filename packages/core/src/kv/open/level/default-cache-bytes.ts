import { totalmem } from "node:os";

const mebibyte = 2 ** 20;
/** The share of the memory that a cache takes at most. */
const share = 1 / 128;
const smallest = 8 * mebibyte;
const largest = 64 * mebibyte;

/**
 * Returns the size of LevelDB's cache of blocks in bytes: 8 MiB up to 1 GiB of memory, 64 MiB from
 * 8 GiB on. In a container, the memory is the limit of the container.
 */
export function defaultCacheBytes(memory: number = usableMemory()): number {
  return Math.round(Math.min(Math.max(memory * share, smallest), largest));
}

/** Returns 0 in Deno if the program may not know the memory, which needs the permission `sys`. */
function usableMemory(): number {
  try {
    // Zero, or more than the machine has, if there is no limit. Some runtimes lack the function.
    const limit = (process.constrainedMemory as typeof process.constrainedMemory | undefined)?.();
    return limit ? Math.min(limit, totalmem()) : totalmem();
  } catch {
    return 0;
  }
}
