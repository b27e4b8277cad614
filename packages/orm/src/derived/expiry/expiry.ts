import type { Derived } from "../derived.js";
import { expiryKey, keepsExpiry } from "./row-expiry.js";

/** The record of the time at which a row expires, if the database does not report it. */
export const expiry: Derived = {
  name: "expiry",
  isKept: keepsExpiry,
  plan({ primaryKey, expiry }, { model }, { writes }) {
    const key = expiryKey(model, primaryKey);
    if (expiry === undefined) writes.push({ type: "delete", key });
    else {
      const writesUntil = (end: number) => [{ type: "set", key, value: end, expiry }] as const;
      writes.push({ type: "timed", expiry, writesUntil });
    }
  },
};
