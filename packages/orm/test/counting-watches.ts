import type { EmbeddedKv, Kv, KvListSelector } from "@keywright/core";

/** A database that counts the watches which nobody has cancelled. */
export function countingWatches(kv: EmbeddedKv): { kv: Kv; readonly open: number } {
  const counted = {
    open: 0,
    kv: new Proxy(kv, {
      get(target, property) {
        if (property === "watchRange") {
          return (selectors: readonly KvListSelector[]) => {
            const reader = target.watchRange(selectors).getReader();
            counted.open++;
            return new ReadableStream({
              pull: async (controller) => {
                const { done, value } = await reader.read();
                if (done) controller.close();
                else controller.enqueue(value);
              },
              cancel: async () => {
                counted.open--;
                await reader.cancel();
              },
            });
          };
        }
        const member: unknown = Reflect.get(target, property, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    }),
  };
  return counted;
}
