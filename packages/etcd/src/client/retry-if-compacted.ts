import { CallFailure } from "./call-failure.js";

const maxAttempts = 5;

/**
 * Makes a read of several requests at one revision. Makes it again if etcd has compacted that
 * revision between two of the requests.
 */
export async function retryIfCompacted<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      const cause = (error as Error).cause;
      const isCompacted = cause instanceof CallFailure && cause.isCompacted;
      if (!isCompacted || attempt === maxAttempts) throw error;
    }
  }
}
