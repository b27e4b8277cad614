import type { JobInfo, JobState, StoredTopic } from "@keywright/orm";
import { escapeData } from "../../inspect/entries/escape-controls.js";
import { cutToWidth, textWidth } from "../../progress/text-width.js";
import { styled } from "../terminal/terminal.js";
import { shownNumber } from "../terminal/text/counted.js";
import { shownText } from "../terminal/text/shown-value.js";

/** The width of tables if the stream is not a terminal. */
const defaultWidth = 120;
/** The width of a text at the end of a row. A shorter one has a line of its own. */
const leastText = 30;

interface Column {
  readonly title: string;
  readonly cells: readonly string[];
  /** Numbers stand at the right. */
  readonly isNumber?: boolean;
}

/** Returns the counts of each name. */
export function topicsTable(
  topics: readonly Omit<StoredTopic, "isKnown">[],
  stdout: NodeJS.WriteStream,
): string {
  if (topics.length === 0) return "The database has no jobs.";
  const counts = (["waiting", "delayed", "running", "failed"] as const).map((state) => ({
    title: state,
    cells: topics.map((topic) => shownNumber(topic[state])),
    isNumber: true,
  }));
  return table([{ title: "name", cells: topics.map(({ name }) => name) }, ...counts], stdout);
}

/** Returns a line for each job, cut at the width of the terminal. */
export function jobsTable(
  jobs: readonly JobInfo[],
  {
    name,
    state,
    cursor,
  }: { readonly name: string; readonly state: JobState; readonly cursor: string | null },
  stdout: NodeJS.WriteStream,
): string {
  if (jobs.length === 0) return `No jobs of ${name} are ${state}.`;
  const [title, timeOf] = timeColumn(state);
  const columns: Column[] = [
    { title: "id", cells: jobs.map(({ id }) => id) },
    { title: "attempts", cells: jobs.map(({ attempts }) => `${attempts}`), isNumber: true },
    { title, cells: jobs.map((job) => timeText(timeOf(job))) },
  ];
  const text =
    state === "failed"
      ? { title: "error", cells: jobs.map(({ failure }) => errorText(failure)) }
      : { title: "payload", cells: jobs.map(({ payload }) => payloadText(payload)) };
  const more = cursor === null ? [] : ["", `More: --after ${cursor}`];
  return [table(columns, stdout, text), ...more].join("\n");
}

function timeColumn(state: JobState): [string, (job: JobInfo) => Date | null | undefined] {
  if (state === "failed") return ["failed at", ({ failure }) => failure?.at];
  if (state === "delayed") return ["due at", ({ runAt }) => runAt];
  if (state === "running") return ["lease until", ({ leaseUntil }) => leaseUntil];
  return ["enqueued at", ({ enqueuedAt }) => enqueuedAt];
}

function timeText(time: Date | null | undefined): string {
  return time ? time.toISOString().slice(0, 19).replace("T", " ") : "";
}

function errorText(failure: JobInfo["failure"]): string {
  return failure === null ? "" : shownText(`${failure.code ?? failure.name}: ${failure.message}`);
}

function payloadText(payload: unknown): string {
  try {
    const text = JSON.stringify(payload, (_, value: unknown) =>
      typeof value === "bigint" ? `${value}n` : value,
    );
    return shownText(text ?? "undefined");
  } catch {
    return "…";
  }
}

/**
 * @param text what each row says at its end. In a narrow terminal, it has a line of its own.
 */
function table(columns: readonly Column[], stdout: NodeJS.WriteStream, text?: Column): string {
  const width = stdout.isTTY ? stdout.columns : defaultWidth;
  const padded = columns.map(({ title, cells, isNumber }) => {
    const all = [title, ...cells].map(escapeData);
    const widest = Math.max(...all.map(textWidth));
    return all.map((cell) => {
      const space = " ".repeat(widest - textWidth(cell));
      return isNumber ? `${space}${cell}` : `${cell}${space}`;
    });
  });
  const texts = text && [text.title, ...text.cells].map(escapeData);
  const left = padded.reduce((sum, [title]) => sum + textWidth(title!) + 2, 0);
  const isNarrow = width - left < leastText;
  const [heading, ...rows] = padded[0]!.map((_, i) => {
    const cells = padded.map((column) => column[i]!).join("  ");
    if (texts === undefined) return cut(cells, width);
    return isNarrow
      ? `${cut(cells, width)}\n${cut(`  ${texts[i]}`, width)}`
      : cut(`${cells}  ${texts[i]}`, width);
  });
  const dim = heading!.split("\n").map((line) => styled(stdout, "dim", line));
  return [...dim, ...rows].join("\n");
}

function cut(line: string, width: number): string {
  const text = line.trimEnd();
  return textWidth(text) > width ? `${cutToWidth(text, width - 1)}…` : text;
}
