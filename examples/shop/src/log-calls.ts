import type { Middleware } from "@keywright/orm";

/** Returns middleware that logs each call that takes at least `ms` milliseconds. */
export function logCalls(ms: number, log: (line: string) => void): Middleware {
  return async ({ model, operation }, next) => {
    const start = performance.now();
    try {
      return await next();
    } finally {
      const duration = performance.now() - start;
      if (duration >= ms) log(`${model}.${operation} took ${duration.toFixed(1)} ms`);
    }
  };
}
