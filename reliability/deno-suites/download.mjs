import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Where the files of repositories are: `<host>/<repository>/<version>/<file>`. */
export const filesHost = "https://raw.githubusercontent.com";

/** A file that could not be downloaded, or is not the expected one. The message says what to do. */
export class DownloadError extends Error {
  name = "DownloadError";
}

/**
 * Downloads the files of suites, and verifies their checksums. Nothing is written unless all of them
 * have arrived and are right.
 *
 * @param suites by name: `{ repository, version, files }`, where `files` has the SHA-256 of each.
 * @param folder gets the files, as `<suite>/<file>`.
 * @param options `host` is the URL of another server. A file has to arrive within `timeout`
 * milliseconds.
 * @throws {DownloadError}
 */
export async function downloadSuites(suites, folder, { host = filesHost, timeout = 60_000 } = {}) {
  const arrived = [];
  for (const [name, { repository, version, files }] of Object.entries(suites)) {
    for (const [file, checksum] of Object.entries(files)) {
      const url = `${host}/${repository}/${version}/${file}`;
      const bytes = await download(url, timeout);
      assertChecksum(url, bytes, checksum, version);
      arrived.push({ path: join(folder, name, file), bytes });
    }
  }
  for (const { path, bytes } of arrived) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, bytes);
  }
}

async function download(url, timeout) {
  const signal = AbortSignal.timeout(timeout);
  let arrived = 0;
  let length = null;
  try {
    const response = await fetch(url, { signal });
    if (!response.ok) throw refused(url, response);
    length = response.headers.get("content-length");
    const chunks = [];
    for await (const chunk of response.body) {
      chunks.push(chunk);
      arrived += chunk.length;
    }
    return Buffer.concat(chunks);
  } catch (error) {
    if (error instanceof DownloadError) throw error;
    const size = `${arrived} of ${length ?? "an unknown number of"} bytes`;
    if (signal.aborted)
      throw new DownloadError(
        `${url}: after ${timeout / 1000} seconds, ${size} had arrived. Run it again, or with --from.`,
        { cause: error },
      );
    const reason = error.cause?.code ?? error.cause?.message ?? error.message;
    const what = arrived > 0 || length !== null ? `ended after ${size}` : "failed";
    throw new DownloadError(
      `${url}: the download ${what} (${reason}). Check the connection and run it again, or with --from.`,
      { cause: error },
    );
  }
}

function refused(url, { status, statusText }) {
  const advice =
    status === 404
      ? "Correct the version or the file in reliability/deno-suites/suites.mjs."
      : "Run it again later, or with --from.";
  return new DownloadError(`${url}: the server answered ${status} ${statusText}. ${advice}`);
}

function assertChecksum(url, bytes, expected, version) {
  const actual = createHash("sha256").update(bytes).digest("hex");
  if (actual === expected) return;
  throw new DownloadError(
    `${url}: its SHA-256 is ${actual}, and that of ${version} is ${expected}. It is the file of another version, or was changed on the way. To use another version, change it in reliability/deno-suites/suites.mjs together with the checksums.`,
  );
}
