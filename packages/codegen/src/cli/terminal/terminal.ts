import { relative, sep } from "node:path";
import { styleText } from "node:util";
import type { Command } from "commander";
import type { ExitCode } from "./exit-codes.js";

/** Where a command writes to, and where it is run. */
export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  /** Absolute. Paths of the command line are relative to it. */
  readonly folder: string;
  /** Makes another folder the current one of the process. */
  readonly enter: (folder: string) => void;
}

/** A command of the program: what it is called with, and how it says what the process exits with. */
export type MakeCommand = (terminal: Terminal, exit: (code: ExitCode) => void) => Command;

/** Whether somebody can be asked. */
export function isInteractive({ stdin, stdout }: Terminal): boolean {
  return stdin.isTTY === true && stdout.isTTY === true;
}

type Style = Parameters<typeof styleText>[0];

/** A text in a style, where {@link hasColors} says so. */
export function styled(stream: NodeJS.WriteStream, style: Style, text: string): string {
  return hasColors(stream) ? styleText(style, text, { validateStream: false }) : text;
}

/** Whether a stream shows styles, and they are wanted. */
export function hasColors(stream: NodeJS.WriteStream): boolean {
  const { NO_COLOR, TERM } = process.env;
  return stream.isTTY === true && !NO_COLOR && TERM !== "dumb";
}

/** A path as it is shown: from the folder of the command, where it is within it. */
export function shownPath({ folder }: Terminal, path: string): string {
  const shown = relative(folder, path);
  return shown === "" || shown.startsWith(`..${sep}`) ? path : shown;
}

/** A text in which absolute paths within the folder of the command are replaced by shorter ones. */
export function withShownPaths({ folder }: Terminal, text: string): string {
  const posixFolder = folder.replaceAll("\\", "/");
  return text.replaceAll(folder + sep, "").replaceAll(`${posixFolder}/`, "");
}
