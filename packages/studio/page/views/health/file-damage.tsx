import type { ComponentChild } from "preact";
import type { CheckedFiles, DamagedPlace } from "../../../src/protocol/maintenance.js";
import type { KnownDamage } from "../../../src/protocol/studio-info.js";
import { CopyButton } from "../../parts/copy-button.js";
import { TableScroller } from "../../parts/table-scroller.js";
import { hexText } from "../../values/hex-text.js";
import { keyText } from "../../values/key-text.js";
import { bytesText } from "../../values/size-text.js";
import { Text } from "../../values/text.js";
import { repairCommand, rescueCommand } from "./repair-command.js";

interface Props {
  readonly damage: KnownDamage | null;
  readonly files: CheckedFiles | null;
}

/** Shows which files are damaged, what that means, and what to do. */
export function FileDamage({ damage, files }: Props): ComponentChild {
  const damages = files?.damages ?? [];
  if (damage === null && damages.length === 0) return null;
  return (
    <section class="finding" aria-label="Damaged files">
      <div class="note note-error" role="alert">
        <p>
          <strong>The files of this database are damaged.</strong>
        </p>
        {damage !== null && (
          <p>
            <Text text={sentence(damage.reason)} />
          </p>
        )}
        <p>{damage?.isReadable === true ? readableText : closedText}</p>
      </div>
      {damages.length > 0 && <DamageList damages={damages} />}
      <h3>What to do</h3>
      <ol class="advice">
        <li>
          Stop all programs that use the database, and keep a copy of{" "}
          {damage?.path == null ? "its folder" : <code>{<Text text={damage.path} />}</code>}.
        </li>
        <li>Restore a backup, if there is one.</li>
        <li>
          Otherwise write what can be read into a new database. It lists what is lost:{" "}
          <Command text={rescueCommand(damage?.path)} />
        </li>
        {damages.every(({ file }) => file.endsWith(".log")) && (
          <li>
            If only the end of a log is damaged, for example after a power failure, cut it off:{" "}
            <Command text={repairCommand(damage?.path)} />
          </li>
        )}
      </ol>
    </section>
  );
}

const readableText =
  "The studio shows what can still be read, and changes nothing. A list that meets the damage mostly ends with an error: look from the other end, or by another index. Some damage hides entries without an error.";
const closedText =
  "Every read and write fails from now on, so that no program takes a hidden entry for absent. To see what can still be read, stop the programs, and start keywright studio again.";

function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}

function Command({ text }: { text: string }): ComponentChild {
  return (
    <span class="command">
      <code>
        <Text text={text} />
      </code>{" "}
      <CopyButton label="Copy" text={text} />
    </span>
  );
}

function DamageList({ damages }: { damages: readonly DamagedPlace[] }): ComponentChild {
  return (
    <TableScroller label="Damaged places">
      <table>
        <caption class="visually-hidden">Damaged places</caption>
        <thead>
          <tr>
            <th scope="col">File</th>
            <th scope="col">From byte</th>
            <th scope="col">Damage</th>
            <th scope="col">Entries that may be missing</th>
            <th scope="col">Keys</th>
          </tr>
        </thead>
        <tbody>
          {damages.map(({ file, offset, reason, firstKey, lastKey, affected }, index) => (
            <tr key={index}>
              <th scope="row">
                <Text text={file} />
              </th>
              <td class="number">{offset.toLocaleString("en")}</td>
              <td>{reason}</td>
              <td class="damage">{<Text text={affectedText(affected)} />}</td>
              <td class="key-range">
                <KeyRange first={firstKey} last={lastKey} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroller>
  );
}

function affectedText(affected: DamagedPlace["affected"]): string {
  if (affected === null) return "any";
  return affected.length === 0 ? "of no model" : affected.join(", ");
}

type Key = DamagedPlace["firstKey"];

function KeyRange({ first, last }: { first: Key; last: Key }): ComponentChild {
  if (first === null && last === null) return "unknown";
  return (
    <>
      <code>{<Text text={shownKey(first)} />}</code>
      <br />
      to <code>{<Text text={shownKey(last)} />}</code>
    </>
  );
}

function shownKey(key: Key): string {
  if (key === null) return "unknown";
  return key instanceof Uint8Array ? `bytes ${hexText(key, 32)}` : keyText(key);
}

/** Says that a check found no damage. */
export function IntactFiles({ files }: { files: CheckedFiles | null }): ComponentChild {
  if (files === null || files.damages.length > 0) return null;
  const tables = `${files.files.toLocaleString("en")} ${files.files === 1 ? "table" : "tables"}`;
  return (
    <p>
      All files match their checksums: {tables}, {bytesText(files.bytes)}.
    </p>
  );
}
