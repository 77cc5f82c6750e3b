import { isPaused } from '#lib/admission';
import { command, query } from '#lib/database';
import { USES_GIT } from '#lib/kernel';
import type { CheckState, Finding } from '../domain/repository-check.js';

/** In seconds. Hosts of the version before do not renew: a first fetch of theirs takes minutes. */
const UNRENEWED_SECONDS = 600;
/** In seconds, after the first renewal. */
const LEASE_SECONDS = 60;

export interface CheckRow {
  id: string;
  check_state: CheckState | null;
  check_requested_at: Date | null;
  checked_at: Date | null;
  check_findings: Finding[];
}

const SHOWN = 'r.id, r.check_state, r.check_requested_at, r.checked_at, r.check_findings';

/** Index: primary key. $1 workspace, $2 repository. */
export const checkOfRepository = query<CheckRow>(
  'check_of_repository',
  `SELECT ${SHOWN} FROM repositories r WHERE r.workspace_id = $1 AND r.id = $2`,
);

/**
 * Asks hosts for a check, unless one has it. No row: there is no such repository in use, or a host
 * checks it now. Index: primary key. $1 workspace, $2 repository.
 */
export const requestCheck = command<CheckRow>(
  'request_check',
  `
UPDATE repositories r SET check_state = 'waiting', check_requested_at = now(), check_agent_id = NULL,
  check_until = NULL
WHERE r.workspace_id = $1 AND r.id = $2 AND r.archived_at IS NULL
  AND (r.check_until IS NULL OR r.check_until <= now())
RETURNING ${SHOWN}`,
);

export interface ClaimedCheck {
  id: string;
  check_generation: number;
  check_until: Date;
}

/**
 * Gives a host the check that has waited longest. A host whose lease has ended loses its check.
 * A pause of the workspace or the installation gives none.
 * Index: repositories_check_idx. $1 workspace, $2 agent.
 */
export const claimCheck = command<ClaimedCheck>(
  'claim_check',
  `
WITH due AS MATERIALIZED (
  SELECT r.id FROM repositories r
  WHERE r.workspace_id = $1 AND r.check_state IN ('waiting', 'running') AND r.archived_at IS NULL
    AND NOT ${isPaused('$1')}
    AND (r.check_until IS NULL OR r.check_until <= now())
    AND EXISTS (SELECT FROM agents a WHERE a.workspace_id = $1 AND a.id = $2
      AND '${USES_GIT}' = ANY (a.capabilities))
  ORDER BY r.check_requested_at LIMIT 1
  FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE repositories r SET check_state = 'running', check_agent_id = $2,
  check_generation = r.check_generation + 1,
  check_until = now() + interval '${UNRENEWED_SECONDS} seconds'
FROM due d WHERE r.workspace_id = $1 AND r.id = d.id
RETURNING r.id, r.check_generation, r.check_until`,
);

/** SQL: the host has the check. $1 workspace, $2 repository, $3 agent, $4 generation. */
const IS_HELD = `r.workspace_id = $1 AND r.id = $2 AND r.check_agent_id = $3
  AND r.check_generation = $4`;

/** Index: primary key. $1 workspace, $2 repository, $3 agent, $4 generation. */
export const renewCheck = command<{ check_until: Date }>(
  'renew_check',
  `
UPDATE repositories r SET check_until = now() + interval '${LEASE_SECONDS} seconds'
WHERE ${IS_HELD}
RETURNING r.check_until`,
);

/**
 * Another host can have the check at once. Index: primary key. $1 workspace, $2 repository, $3 agent,
 * $4 generation.
 */
export const releaseCheck = command<CheckRow>(
  'release_check',
  `
UPDATE repositories r SET check_state = 'waiting', check_agent_id = NULL, check_until = NULL
WHERE ${IS_HELD}
RETURNING ${SHOWN}`,
);

/**
 * Stores the findings of the host that has the check. Index: primary key. $1 workspace,
 * $2 repository, $3 agent, $4 generation, $5 findings as JSON.
 */
export const endCheck = command<CheckRow>(
  'end_check',
  `
UPDATE repositories r SET check_state = 'finished', checked_at = now(), check_findings = $5::jsonb,
  check_agent_id = NULL, check_until = NULL
WHERE ${IS_HELD}
RETURNING ${SHOWN}`,
);
