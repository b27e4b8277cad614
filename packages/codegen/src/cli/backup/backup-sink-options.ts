import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type BackupSink, folderSink } from "@keywright/core/backup";
import type { Command } from "commander";
import { ProjectFileError } from "../../errors/codegen-errors.js";
import type { Terminal } from "../terminal/terminal.js";

/** The options of commands that use an encrypted backup. */
export interface KeyFileOptions {
  readonly encryptWith?: string;
}

export function withKeyFile(command: Command): Command {
  return command.option(
    "--encrypt-with <file>",
    "the file of the key: at least 32 random bytes, for example of `openssl rand 32`",
  );
}

/** Returns the folder of backups and the key with which they are encrypted. */
export async function openSink(
  { folder }: Terminal,
  place: string,
  { encryptWith }: KeyFileOptions,
): Promise<{ sink: BackupSink; key: Uint8Array | undefined }> {
  const sink = folderSink(resolve(folder, place));
  if (encryptWith === undefined) return { sink, key: undefined };
  const path = resolve(folder, encryptWith);
  try {
    return { sink, key: await readFile(path) };
  } catch (error) {
    throw new ProjectFileError({ path }, error);
  }
}
