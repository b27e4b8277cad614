import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type BackupSink, folderSink } from "@keywright/core/backup";
import type { Command } from "commander";
import { ProjectFileError } from "../../errors/codegen-errors.js";
import { importPackage } from "../../project/open-path.js";
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

/** Returns the sink of backups and the key with which they are encrypted. */
export async function openSink(
  { folder }: Terminal,
  place: string,
  { encryptWith }: KeyFileOptions,
): Promise<{ sink: BackupSink; key: Uint8Array | undefined }> {
  const sink = await sinkAt(folder, place);
  if (encryptWith === undefined) return { sink, key: undefined };
  const path = resolve(folder, encryptWith);
  try {
    return { sink, key: await readFile(path) };
  } catch (error) {
    throw new ProjectFileError({ path }, error);
  }
}

/**
 * Returns the sink of a folder, or of `s3://bucket/prefix`, for which the project has a package.
 */
async function sinkAt(folder: string, place: string): Promise<BackupSink> {
  const [, bucket, prefix = ""] = /^s3:\/\/([^/]*)\/?(.*?)\/?$/i.exec(place) ?? [];
  if (bucket === undefined) return folderSink(resolve(folder, place));
  const { s3Sink } = await importPackage<S3Package>(folder, "@keywright/s3");
  return s3Sink({ bucket, prefix });
}

interface S3Package {
  readonly s3Sink: (options: { readonly bucket: string; readonly prefix: string }) => BackupSink;
}
