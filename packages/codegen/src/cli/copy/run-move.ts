import { resolve } from "node:path";
import {
  type EmbeddedKv,
  type KvPlace,
  type MoveProgress,
  type MoveResult,
  moveKv,
  openKv,
  undoMove,
} from "@keywright/core";
import { units } from "../../progress/progress-text.js";
import { reporterFor } from "../../progress/reporter-for.js";
import { withoutNewDatabases } from "../../project/config/without-new-databases.js";
import { kvPlace } from "../../project/open-path.js";
import { styled, type Terminal } from "../terminal/terminal.js";
import { counted } from "../terminal/text/counted.js";
import { withProgress } from "../terminal/with-progress.js";
import { configFor, isSetting, openPlace } from "./open-place.js";

/** The databases of a move, as the command line names them. */
export interface MovePlaces {
  readonly from: string;
  readonly to: string;
  readonly config: string | false | undefined;
}

export type MoveReport =
  | (MoveResult & { readonly status: "done"; readonly to: string | undefined })
  | { readonly status: "stopped" };

/** Moves a database, and returns what was done. */
export async function runMove(terminal: Terminal, places: MovePlaces): Promise<MoveReport> {
  const to = isSetting(places.to) ? undefined : placeName(terminal.folder, places.to);
  const source = await openMoved(terminal, places.from, places.config);
  try {
    const target = await targetOf(terminal, places);
    const reporter = reporterFor(terminal.stderr, (progress: MoveProgress) => {
      const isOfCommits = progress.phase === "catching up" || progress.phase === "switching";
      return { ...progress, model: "move", unit: isOfCommits ? units.commits : units.entries };
    });
    return await withProgress(terminal, reporter, async (shown) => {
      try {
        return { status: "done", to, ...(await moveKv(source, target, { to, ...shown })) };
      } catch (error) {
        if (shown.signal.aborted && error === shown.signal.reason) return { status: "stopped" };
        throw error;
      } finally {
        if (isSetting(places.to)) await (target as EmbeddedKv).close();
      }
    });
  } finally {
    await source.close();
  }
}

/** Takes a move back. Returns false if the database was not moved. */
export async function runUndo(
  terminal: Terminal,
  { from, config }: Omit<MovePlaces, "to">,
): Promise<boolean> {
  const source = await openMoved(terminal, from, config);
  try {
    return await undoMove(source);
  } finally {
    await source.close();
  }
}

export function moveText({ stdout }: Terminal, report: MoveReport): string {
  if (report.status === "stopped") {
    const rest = "The source is used as before. To continue, run the same command again.";
    return `${styled(stdout, "yellow", "Stopped.")} ${rest}`;
  }
  const { entries, commits, fencedMilliseconds } = report;
  const moved = `${counted(entries, "entry", "entries")} and ${counted(commits, "later commit")} moved`;
  const fenced = `Commits were refused for ${fencedMilliseconds.toFixed(1)} ms`;
  return `${styled(stdout, "green", "Done.")} ${moved}. ${fenced}. Programs of the source now get KW_DATABASE_MOVED.`;
}

async function openMoved(
  { folder }: Terminal,
  name: string,
  file: string | false | undefined,
): Promise<EmbeddedKv> {
  return await withoutNewDatabases(async () => {
    if (isSetting(name))
      return (await openPlace(folder, await configFor(folder, file, [name]), name)) as EmbeddedKv;
    return await openKv(await kvPlace(folder, name), { allowMoved: true });
  });
}

async function targetOf(
  { folder }: Terminal,
  { to, config }: MovePlaces,
): Promise<KvPlace | EmbeddedKv> {
  if (!isSetting(to)) return await kvPlace(folder, to);
  return (await openPlace(folder, await configFor(folder, config, [to]), to)) as EmbeddedKv;
}

/**
 * Returns an absolute path, or a URL without user, password and parameters: programs are told this
 * text.
 */
export function placeName(folder: string, place: string): string {
  const [, engine, file] = /^(lmdb|sqlite):(?:\/\/)?(.+)$/i.exec(place) ?? [];
  if (file !== undefined) return `${engine}:${resolve(folder, file)}`;
  const [, scheme, rest = ""] = /^([a-z]+:\/\/)(.*)$/is.exec(place) ?? [];
  if (scheme === undefined) return resolve(folder, place);
  // A password may contain any character.
  const [address = ""] = rest.slice(rest.lastIndexOf("@") + 1).split(/[?#]/);
  return `${scheme}${address}`;
}
