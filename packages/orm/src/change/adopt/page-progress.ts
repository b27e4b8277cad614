import type { KvKey } from "@keywright/core";
import type { BrokenEntry } from "./adopt-result.js";
import type { AdoptOutcome, DocumentPlan } from "./adopt-rows.js";
import type { AdoptState, Reports } from "./adopt-state.js";
import { idText, type SourceEntry } from "./source/source-layout.js";

/** The progress that is stored after some documents of a page. */
export interface PageProgress extends Required<Reports> {
  readonly rows: number;
  readonly state: AdoptState;
  readonly failedKeys: readonly KvKey[];
}

/**
 * Returns what is stored after some slots of a page, whose documents have these plans.
 *
 * @param slots the entries of the pass, undefined for a document that is gone.
 * @param broken the broken entries of the page.
 */
export function pageProgress(
  state: AdoptState,
  slots: readonly (SourceEntry | undefined)[],
  plans: readonly DocumentPlan[],
  broken: readonly BrokenEntry[],
): PageProgress {
  const isFirst = state.pass === 1;
  const outcomes = plans.map(({ outcome }) => outcome);
  const count = (outcome: AdoptOutcome) => outcomes.filter((each) => each === outcome).length;
  const failedPlans = plans.filter(({ outcome }) => typeof outcome === "object");
  const waiting = outcomes.filter((each) => typeof each === "object" && "waiting" in each);
  const first = plans.find(({ outcome }) => typeof outcome === "string")?.document.entry;
  const origin = first && { key: first.key, versionstamp: first.versionstamp };
  const ids = new Set(plans.map(({ document }) => idText(document.id)));
  const others = isFirst ? slots.length - plans.length : 0;
  const adopted = count("adopted");
  return {
    rows: plans.length,
    state: {
      ...state,
      origin: state.origin ?? origin ?? null,
      after: isFirst ? (slots.at(-1)?.key ?? state.after) : null,
      retried: state.retried + (isFirst ? 0 : slots.length),
      rows: state.rows + (isFirst ? plans.length : 0),
      adopted: state.adopted + adopted,
      skipped: state.skipped + count("skipped"),
      deleted: state.deleted + count("deleted"),
      leftBehind: withMore(state.leftBehind, "entries that are not documents", others),
      adoptedInPass: state.adoptedInPass + adopted,
      waiting: state.waiting + waiting.length,
    },
    failedKeys: failedPlans.map(({ document }) => document.entry.key),
    failed: outcomes.flatMap((outcome) =>
      typeof outcome === "string" ? [] : "waiting" in outcome ? [outcome.waiting] : [outcome],
    ),
    broken: broken.filter(({ id }) => id !== undefined && ids.has(idText(id))),
  };
}

/** Adds a number of entries to those of their kind. */
export function withMore(
  counts: AdoptState["leftBehind"],
  kind: string,
  more: number,
): AdoptState["leftBehind"] {
  return more === 0 ? counts : { ...counts, [kind]: (counts[kind] ?? 0) + more };
}
