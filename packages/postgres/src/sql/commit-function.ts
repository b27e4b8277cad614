import { change, combination, condition, step } from "./operations.js";
import { channelOf, commitFunction, serverTime } from "./schema.js";

/** Milliseconds for which the outcomes and the changed keys of a batch are kept. */
const retention = 10 * 60_000;
/** Every 64th batch also deletes old commit records. */
const sweepInterval = 64;
/** The maximum number of old batches that are removed at once. */
const sweepSize = 1000;
/**
 * A range check looks at the changed keys of at most so many batches, and at most so many bytes,
 * because other commits wait for it.
 */
const maxCheckedBatches = 10_000;
const maxCheckedBytes = 8 * 1024 * 1024;

/** The parameters of the function, in order. `Statements.commit` passes them. */
const parameters = [
  ["p_id", "bytea"],
  // By wave: its last write, the statements that it needs, and its stages of combinations.
  ["p_ends", "int4[]"],
  ["p_steps", "int4[]"],
  ["p_stages", "int4[]"],
  // Conditions.
  ["p_if_writes", "int4[]"],
  ["p_if_kinds", "int4[]"],
  ["p_if_keys", "bytea[]"],
  ["p_if_versions", "bytea[]"],
  // Range checks. A prefix is that of all keys of the range.
  ["p_range_writes", "int4[]"],
  ["p_range_starts", "bytea[]"],
  ["p_range_ends", "bytea[]"],
  ["p_range_prefixes", "bytea[]"],
  ["p_range_versions", "bytea[]"],
  // Changes.
  ["p_writes", "int4[]"],
  ["p_kinds", "int4[]"],
  ["p_keys", "bytea[]"],
  ["p_values", "bytea[]"],
  ["p_times", "int8[]"],
  // Combinations.
  ["p_with_writes", "int4[]"],
  ["p_with_kinds", "int4[]"],
  ["p_with_stages", "int4[]"],
  ["p_with_keys", "bytea[]"],
  ["p_with_operands", "numeric[]"],
] as const;

export const commitSignature: string = parameters.map(([, type]) => type).join(", ");

const isLive = "(expires_at IS NULL OR expires_at > v_now)";
const isU64 = "length(s.value) = 9 AND get_byte(s.value, 0) = 3";
const conditions = "unnest(p_if_writes, p_if_kinds, p_if_keys, p_if_versions)";
const rangeChecks =
  "unnest(p_range_writes, p_range_starts, p_range_ends, p_range_prefixes, p_range_versions)";
const changes = "unnest(p_writes, p_kinds, p_keys, p_values, p_times)";
/** Without the values, which would be copied. */
const changesOfKeys = "unnest(p_writes, p_kinds, p_keys) AS u(write, kind, key)";
const combinations =
  "unnest(p_with_writes, p_with_kinds, p_with_stages, p_with_keys, p_with_operands)";
/** True for the log of the batch of the oldest range check, and of those after it. */
const isLog = "key >= '\\x0002'::bytea || substr(v_since, 1, 8) AND key < '\\x0003'";
const numberOf = (bytes: string) => `('x' || encode(${bytes}, 'hex'))::bit(64)::int8`;
const lengthAndKey = (key: string) =>
  `decode(lpad(to_hex(length(${key})), 8, '0'), 'hex') || ${key}`;
/** The keys of a log entry `l`, up to the empty one. Their lengths fit in 2 bytes. */
const loggedKeys = `
  WITH RECURSIVE steps(key, next) AS (
    SELECT NULL::bytea, 1
    UNION ALL
    SELECT substr(l.keys, s.next + 4, n.length), s.next + 4 + n.length
    FROM steps AS s CROSS JOIN LATERAL (SELECT CASE WHEN s.next < length(l.keys) THEN
      get_byte(l.keys, s.next + 1) * 256 + get_byte(l.keys, s.next + 2) END) AS n(length)
    WHERE n.length > 0
  )
  SELECT key FROM steps`;
/** True for what belongs to a write of the wave that is applied. */
const isApplied = "u.write >= v_first AND u.write <= v_last AND NOT u.write = ANY (v_failed)";
const versionOf = (write: string) => `decode(v_hex || lpad(to_hex(${write}), 4, '0'), 'hex')`;
/** The key of a change, after the versionstamp is appended. */
const changedKey = `
  CASE WHEN u.kind = ${change.setAtVersionstamp} THEN
    u.key || '\\x02'::bytea
      || convert_to(v_hex || lpad(to_hex(u.write), 4, '0'), 'UTF8') || '\\x00'::bytea
  ELSE u.key END`;

const bytesOfU64 = [1, 2, 3, 4, 5, 6, 7, 8];

/** Returns a `KvU64` (format byte 3, then 8 bytes, little-endian) as a signed integer, as SQL. */
function signedOf(value: string): string {
  const bytes = bytesOfU64.map((i) => `substr(${value}, ${10 - i}, 1)`);
  return numberOf(bytes.join(" || "));
}

/** Returns 16 hexadecimal digits as a `KvU64`, as SQL. */
function u64Of(digits: string): string {
  const bytes = bytesOfU64.map((i) => `substr(${digits}, ${17 - 2 * i}, 2)`);
  return `decode('03' || ${bytes.join(" || ")}, 'hex')`;
}

function unsigned(signed: string): string {
  return `(CASE WHEN ${signed} < 0 THEN ${signed} + ${2n ** 64n} ELSE ${signed}::numeric END)`;
}

/** Returns a number from 0 to 2^64 - 1 as 16 hexadecimal digits, as SQL. */
function digitsOf(number: string): string {
  const signed = `CASE WHEN ${number} < ${2n ** 63n} THEN ${number} ELSE ${number} - ${2n ** 64n} END`;
  return `lpad(to_hex((${signed})::int8), 16, '0')`;
}

/**
 * Returns the statement that creates the function of commits. It applies a batch of atomic writes
 * as one transaction. It first locks the head row, so batches have an order, and each statement
 * after the lock sees all earlier batches.
 *
 * A batch has waves of consecutive writes, which are applied one after another. No write of a wave
 * depends on another one of it, so a few statements apply a wave, however many writes it has.
 *
 * Range checks are answered from the log of changed keys, before the waves. The program adds
 * conditions for the earlier writes of the batch that change a key of the range.
 *
 * It returns three texts with colons between them: the number of the batch, the indexes of the
 * writes that were not applied, and for each of them the position of the condition that is not
 * true. It is 0 for a range check, and negative for one with a versionstamp that no commit has. If
 * a batch with this id was applied before, it changes nothing and returns the first answer.
 */
export function createCommitFunction(prefix: string): string {
  const signature = parameters.map((parameter) => parameter.join(" ")).join(", ");
  /** Reads the entry of a key by the index, in any plan. */
  const entryOf = (key: string, columns: string, filter = "true") =>
    `LEFT JOIN LATERAL (
       SELECT ${columns} FROM ${prefix} AS t WHERE t.key = ${key} AND ${filter} LIMIT 1
     ) AS s ON true`;
  return `
CREATE OR REPLACE FUNCTION ${commitFunction(prefix)}(${signature})
RETURNS text LANGUAGE plpgsql AS $body$
DECLARE
  v_head bytea;
  v_known bytea;
  v_sequence int8;
  v_hex text;
  v_now int8;
  v_wave int4 := 0;
  v_waves int4 := array_length(p_ends, 1);
  v_first int4 := 0;
  v_last int4;
  v_stage int4;
  v_failed int4[] := '{}';
  v_positions int4[] := '{}';
  v_wave_failed int4[];
  v_wave_positions int4[];
  v_expired bytea[];
  v_all_expired bytea[] := '{}';
  v_since bytea;
  v_oldest int8;
  v_result text;
BEGIN
  SELECT version INTO v_head FROM ${prefix} WHERE key = '\\x0000' FOR UPDATE;
  SELECT value INTO v_known FROM ${prefix} WHERE key = '\\x0001'::bytea || p_id;
  IF v_known IS NOT NULL THEN
    RETURN convert_from(v_known, 'UTF8');
  END IF;
  v_sequence := ${numberOf("substr(v_head, 1, 8)")} + 1;
  IF cardinality(p_range_writes) > 0 THEN
    SELECT version INTO v_since FROM unnest(p_range_versions) AS version ORDER BY version LIMIT 1;
    -- The batch from which on no number is missing in the log, within the limits.
    SELECT min(c.number) INTO v_oldest FROM (
      SELECT l.number, row_number() OVER later AS count, sum(l.bytes) OVER later AS bytes
      FROM (
        SELECT ${numberOf("substr(key, 3)")} AS number, length(value) AS bytes
        FROM ${prefix} WHERE ${isLog} ORDER BY key DESC LIMIT ${maxCheckedBatches}
      ) AS l WINDOW later AS (ORDER BY l.number DESC)
    ) AS c WHERE c.number = v_sequence - c.count AND c.bytes <= ${maxCheckedBytes};
    WITH log AS MATERIALIZED (
      SELECT version, substr(value, 17) AS keys FROM ${prefix}
      WHERE ${isLog} AND version > v_since
        AND key >= '\\x0002'::bytea || int8send(coalesce(v_oldest, v_sequence))
    )
    SELECT coalesce(array_agg(f.write), '{}'), coalesce(array_agg(f.position), '{}')
      INTO v_failed, v_positions
      FROM (
        SELECT r.write, min(CASE WHEN r.version > v_head THEN -r.position ELSE 0 END) AS position
        FROM ${rangeChecks} WITH ORDINALITY AS r(write, first, last, prefix, version, position)
        WHERE r.version > v_head OR r.version < v_head AND (
          greatest(${numberOf("substr(r.version, 1, 8)")}, 1) < coalesce(v_oldest, v_sequence)
          OR EXISTS (
            SELECT FROM log AS l CROSS JOIN LATERAL (${loggedKeys}) AS k
            WHERE l.version > r.version AND position(r.prefix IN l.keys) > 0
              AND k.key >= r.first AND k.key < r.last AND (
                substr(l.version, 1, 8) > substr(r.version, 1, 8)
                -- A key of the batch of the versionstamp, which a later write of it has changed.
                OR NOT EXISTS (
                  SELECT FROM ${prefix} AS t WHERE t.key = k.key AND t.version <= r.version))))
        GROUP BY r.write
      ) AS f;
  END IF;
  v_hex := lpad(to_hex(v_sequence), 16, '0');
  IF ${change.setAtVersionstamp} = ANY (p_kinds) THEN
    -- A key that already ends in the versionstamp would be the same as one that gets it.
    WHILE EXISTS (
      SELECT 1 FROM (SELECT unnest(p_keys) AS key UNION ALL SELECT unnest(p_if_keys)) AS k
      WHERE length(key) > 21 AND substr(key, length(key) - 20, 16) = convert_to(v_hex, 'UTF8')
    ) LOOP
      v_sequence := v_sequence + 1;
      v_hex := lpad(to_hex(v_sequence), 16, '0');
    END LOOP;
  END IF;
  v_now := ${serverTime};
  WHILE v_wave < v_waves LOOP
    v_wave := v_wave + 1;
    v_last := p_ends[v_wave];
    IF p_steps[v_wave] & ${step.conditions} > 0 THEN
      SELECT coalesce(array_agg(f.write), '{}'), coalesce(array_agg(f.position), '{}')
        INTO v_wave_failed, v_wave_positions
        FROM (
          SELECT u.write, min(u.position) AS position
          FROM ${conditions} WITH ORDINALITY AS u(write, kind, key, version, position)
          ${entryOf("u.key", "version, value", isLive)}
          WHERE ${isApplied} AND (
            u.kind = ${condition.check} AND s.version IS DISTINCT FROM u.version
            OR u.kind = ${condition.isU64} AND s.value IS NOT NULL AND NOT (${isU64})
            OR u.kind = ${condition.never}
            OR u.kind = ${condition.notApplied}
              AND NOT get_byte(u.key, 0) * 256 + get_byte(u.key, 1) = ANY (v_failed))
          GROUP BY u.write
        ) AS f;
      v_failed := v_failed || v_wave_failed;
      v_positions := v_positions || v_wave_positions;
    END IF;
    IF p_steps[v_wave] & ${step.deletesExpired} > 0 THEN
      SELECT coalesce(array_agg(e.deleted), '{}') INTO v_expired FROM (
        SELECT unnest(ARRAY[
          CASE WHEN s.expires_at <= v_now THEN u.key END,
          CASE WHEN s.expires_at > v_now AND s.expires_at <= u.time THEN NULL ELSE u.value END
        ]) AS deleted
        FROM ${changes} AS u(write, kind, key, value, time)
        ${entryOf("u.key", "expires_at")}
        WHERE u.kind = ${change.deleteExpired} AND ${isApplied}
      ) AS e WHERE e.deleted IS NOT NULL;
      DELETE FROM ${prefix} WHERE key = ANY (v_expired);
      v_all_expired := v_all_expired || v_expired;
    END IF;
    IF p_steps[v_wave] & ${step.deletes} > 0 THEN
      DELETE FROM ${prefix} WHERE key = ANY (ARRAY(
        SELECT u.key FROM ${changesOfKeys}
        WHERE u.kind = ${change.delete} AND ${isApplied}
      ));
    END IF;
    IF p_steps[v_wave] & ${step.sets} > 0 THEN
      INSERT INTO ${prefix} AS t (key, value, version, expires_at)
        SELECT ${changedKey}, u.value, ${versionOf("u.write")}, u.time
        FROM ${changes} AS u(write, kind, key, value, time)
        WHERE u.kind <= ${change.setAtVersionstamp} AND ${isApplied}
        ON CONFLICT (key) DO UPDATE
          SET value = excluded.value, version = excluded.version, expires_at = excluded.expires_at;
    END IF;
    v_stage := 0;
    WHILE v_stage < p_stages[v_wave] LOOP
      v_stage := v_stage + 1;
      INSERT INTO ${prefix} AS t (key, value, version, expires_at)
        -- OFFSET 0 keeps each expression from being copied into those that use it.
        SELECT d.key, ${u64Of("d.digits")}, ${versionOf("d.write")}, NULL
        FROM (
          SELECT n.key, n.write, ${digitsOf("n.number")} AS digits
          FROM (
            SELECT c.key, c.write, CASE
              WHEN s.stored IS NULL THEN mod(c.operand, ${2n ** 64n})
              WHEN c.kind = ${combination.sum} THEN
                mod(${unsigned("s.stored")} + c.operand, ${2n ** 64n})
              WHEN c.kind = ${combination.min} THEN least(${unsigned("s.stored")}, c.operand)
              ELSE greatest(${unsigned("s.stored")}, c.operand) END AS number
            FROM (
              SELECT u.key, u.kind, max(u.write) AS write, CASE u.kind
                WHEN ${combination.sum} THEN sum(u.operand)
                WHEN ${combination.min} THEN min(u.operand)
                ELSE max(u.operand) END AS operand
              FROM ${combinations} AS u(write, kind, stage, key, operand)
              WHERE u.stage = v_stage AND ${isApplied}
              GROUP BY u.key, u.kind
            ) AS c
            ${entryOf("c.key", `${signedOf("value")} AS stored`, isLive)}
            OFFSET 0
          ) AS n OFFSET 0
        ) AS d
        ON CONFLICT (key) DO UPDATE
          SET value = excluded.value, version = excluded.version, expires_at = NULL;
    END LOOP;
    v_first := v_last + 1;
  END LOOP;
  v_result := v_sequence || ':' || array_to_string(v_failed, ',') || ':'
    || array_to_string(v_positions, ',');
  IF cardinality(v_failed) = v_first THEN
    RETURN v_result;
  END IF;
  UPDATE ${prefix} SET version = ${versionOf("v_last")} WHERE key = '\\x0000';
  INSERT INTO ${prefix} (key, value, version, expires_at) VALUES
    ('\\x0001'::bytea || p_id, convert_to(v_result, 'UTF8'), ${versionOf("v_last")},
     v_now + ${retention}),
    ('\\x0002'::bytea || decode(v_hex, 'hex'),
     p_id || coalesce(
       (SELECT string_agg(${lengthAndKey("c.key")}, ''::bytea)
        FROM (
          SELECT ${changedKey} AS key
            FROM ${changesOfKeys}
            WHERE u.kind < ${change.deleteExpired} AND NOT u.write = ANY (v_failed)
          UNION ALL
          SELECT u.key
            FROM unnest(p_with_writes, p_with_keys) AS u(write, key)
            WHERE NOT u.write = ANY (v_failed)
        ) AS c), ''::bytea)
       || coalesce(
       (SELECT ${lengthAndKey("''::bytea")} || string_agg(${lengthAndKey("c.key")}, ''::bytea)
        FROM unnest(v_all_expired) AS c(key)), ''::bytea),
     ${versionOf("v_last")}, v_now + ${retention});
  IF v_sequence % ${sweepInterval} = 0 THEN
    WITH old AS (
      SELECT key, value FROM ${prefix}
        WHERE key >= '\\x0002' AND key < '\\x0003' AND expires_at < v_now
        ORDER BY key LIMIT ${sweepSize}
    )
    DELETE FROM ${prefix} WHERE key = ANY (ARRAY(
      SELECT key FROM old UNION ALL SELECT '\\x0001'::bytea || substr(value, 1, 16) FROM old
    ));
  END IF;
  PERFORM pg_notify('${channelOf(prefix)}', v_sequence::text);
  RETURN v_result;
END
$body$`;
}
