import type { Kv, KvKey } from "@keywright/core";

/**
 * Calls back when a database is closed: its streams end. Returns a function that stops waiting. A
 * database whose streams fail is noticed to be closed by the next read.
 */
export function onClose(kv: Kv, key: KvKey, callback: () => void): () => Promise<void> {
  const reader = kv.watch([key]).getReader();
  let isStopped = false;
  const wait = async () => {
    for (;;) if ((await reader.read()).done) return;
  };
  wait().then(
    () => {
      if (!isStopped) callback();
    },
    () => undefined,
  );
  return async () => {
    isStopped = true;
    await reader.cancel().catch(() => undefined);
  };
}
