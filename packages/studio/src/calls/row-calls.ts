import type { Explained } from "../protocol/rows.js";
import { type AnyExplanation, modelOf, type Source } from "../source/source.js";
import type { CallsOf } from "./calls-of.js";
import { countRows } from "./count-rows.js";

const pageSize = 100;

/** The calls that read and write rows. The repository checks what the page sends. */
export function rowCalls(
  source: Source,
): CallsOf<"rows" | "count" | "explain" | "row" | "create" | "update" | "delete" | "restore"> {
  return {
    rows: async ({ property, query }) => {
      const { repository } = modelOf(source, property);
      const options = { take: pageSize, ...query, withVersionstamp: true };
      const { items, cursor } = await repository.findMany(options);
      return { items, cursor };
    },
    count: async ({ property, query: { where, index, withDeleted } }) => {
      const { repository } = modelOf(source, property);
      // Counters and indexes leave out rows that are marked as deleted.
      if (withDeleted === true) return null;
      return await countRows(repository, { ...(where && { where }), ...(index && { index }) });
    },
    explain: async ({ property, query }) => {
      const explanation = await modelOf(source, property).repository.explain(query);
      return { index: explanation.index, text: explanationText(explanation) };
    },
    row: async ({ property, key }) => {
      const { repository, model } = modelOf(source, property);
      const marked = model.softDelete === undefined ? {} : { withDeleted: true };
      return await repository.findUnique({ where: key, withVersionstamp: true, ...marked });
    },
    create: async ({ property, data }) =>
      await modelOf(source, property).repository.create({ data, withVersionstamp: true }),
    update: async ({ property, key, data, versionstamp }) => {
      assertVersion(versionstamp);
      // An object such as { increment: 1 } is a value here, not an operation.
      const changes = Object.entries(data).map(([field, value]) => {
        return [field, value === undefined ? { unset: true } : { set: value }];
      });
      return await modelOf(source, property).repository.update({
        where: key,
        data: Object.fromEntries(changes),
        ifVersion: versionstamp,
        withVersionstamp: true,
      });
    },
    delete: async ({ property, key, versionstamp }) => {
      assertVersion(versionstamp);
      await modelOf(source, property).repository.delete({ where: key, ifVersion: versionstamp });
      return null;
    },
    restore: async ({ property, key, versionstamp, cascade }) => {
      assertVersion(versionstamp);
      return await modelOf(source, property).repository.restore({
        where: key,
        cascade,
        ifVersion: versionstamp,
        withVersionstamp: true,
      });
    },
  };
}

/** Without a version, a write would overwrite what somebody else has written. */
function assertVersion(versionstamp: unknown): void {
  if (typeof versionstamp === "string") return;
  throw new TypeError("A change needs the versionstamp of the row.");
}

function explanationText(explanation: AnyExplanation): Explained["text"] {
  const { kind, segments, reverse, covered, reads } = explanation;
  const ranges = segments.map(({ prefix, start, end }) => {
    const from = start === undefined ? "" : `, from ${keyText(start)}`;
    const to = end === undefined ? "" : `, before ${keyText(end)}`;
    return `${kind} of ${keyText(prefix)}${from}${to}`;
  });
  const most = reads === undefined ? "No limit of reads." : `At most ${reads} reads.`;
  const entries = covered
    ? "The entries have all that is returned."
    : "Each entry leads to its row.";
  const order = reverse ? "From the last key to the first." : "From the first key to the last.";
  return [...ranges, `${order} ${entries} ${most}`].join("\n");
}

function keyText(key: readonly unknown[]): string {
  return `[${key.map(partText).join(", ")}]`;
}

function partText(part: unknown): string {
  if (typeof part === "bigint") return `${part}n`;
  if (part instanceof Uint8Array) return `0x${Buffer.from(part).toString("hex")}`;
  return typeof part === "string" ? JSON.stringify(part) : String(part);
}
