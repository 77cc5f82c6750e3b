/**
 * The tokens in the bucket `s` now. It holds the allowance of a minute and fills at the rate. A
 * missing bucket is full.
 */
export const refilled = (rate: string) =>
  `least(${rate}, s.tokens + greatest(0, extract(epoch FROM now() - s.filled_at)) * ${rate} / 60.0)`;

const waitFor = (rate: string) =>
  `CASE WHEN ${rate} = 0 THEN 'infinity'::float8
    ELSE greatest(0, (1 - ${refilled(`${rate}::float8`)}) * 60.0 / ${rate}) END`;

/**
 * An SQL expression: seconds until the rates of a workspace and of the installation allow the next
 * spawn. 0 if they do, infinity if they never will. Fills no bucket. Indexes: primary keys.
 *
 * @param workspace an SQL expression
 * @param perMinute the installation's rate, an SQL expression; 0: none
 */
export function spawnWaitSeconds(workspace: string, perMinute: string): string {
  return `greatest(
    coalesce((SELECT ${waitFor('l.spawns_per_minute')}
      FROM workspace_limits l LEFT JOIN spawn_allowances s ON s.workspace_id = l.workspace_id
      WHERE l.workspace_id = ${workspace}), 0),
    coalesce((SELECT ${waitFor(`${perMinute}::float8`)}
      FROM installation_spawn_allowance s WHERE ${perMinute}::float8 > 0), 0))`;
}
