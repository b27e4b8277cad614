import type { KvListedEntry, KvListSelector, KvPageOptions, MaybePromise } from "@keywright/core";
import type { KvReads } from "../catalog/capabilities-of.js";
import { listAsPage } from "../transaction/reads/list-as-page.js";

/** Returns the first entries of a range, in one batch if the database allows it. */
export function readPage(
  { kv }: { readonly kv: KvReads },
  selector: KvListSelector,
  options: KvPageOptions,
): MaybePromise<KvListedEntry[]> {
  const { pages } = kv;
  return pages === undefined ? listAsPage(kv, selector, options) : pages.list(selector, options);
}
