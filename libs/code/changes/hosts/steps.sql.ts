import { isEndedByPause, isOfNone, isPaused, pausedTypes } from '#lib/admission';
import { command, query } from '#lib/database';
import { USES_GIT } from '#lib/kernel';
import { journalRow } from '#lib/transitions';
import { CHANGE_COLUMNS, type ChangeRow } from '../store/changes.sql.js';
import { CHANGE_FIELDS } from '../store/change-transition.sql.js';
import type { Step } from '../domain/change-state.js';

/** In seconds. A host renews it well before. */
export const STEP_LEASE_SECONDS = 60;

/** Each pull request adds this to the interval of all: 1,200 polls/h for a workspace. */
const SECONDS_EACH = 3;

export interface ClaimedStep extends ChangeRow {
  step: Step;
  step_until: Date;
}

/** SQL: no pause of its type holds the task of the change `c`. $1 workspace. */
const IS_OF_NO_PAUSED_TYPE = `(${pausedTypes('$1')} = '{}'
    OR (SELECT ${isOfNone('t.task_type', pausedTypes('$1'))} FROM agent_tasks t
      WHERE t.workspace_id = $1 AND t.id = c.task_id))`;

/**
 * Gives a host the step that is due, if there is one: merges before proofs before others, and the
 * change that has waited longest. A host whose lease has ended loses its step. One change of a
 * branch lands at a time, in the order of approvals: a later one does not pass one that another host
 * is about to get. A change whose host is lost comes first, because no other one lands before its
 * next host has looked. If two hosts take two, changes_landing_key refuses the second.
 *
 * A pause of the installation, the workspace or the type of the task gives no step.
 *
 * Only agents that use git get one, because it comes with the credentials of the repository.
 *
 * Index: changes_step_idx, which has no finished changes. Measured with 100,000 finished changes
 * and 100 steps that wait: 0.5 ms. $1 workspace, $2 agent, $3 whether the host knows forges: others
 * would land without required checks.
 */
export const claimStep = command<ClaimedStep>(
  'claim_step',
  `
WITH first_landings AS MATERIALIZED (
  SELECT DISTINCT ON (c.repository_id, c.target) c.task_id FROM changes c
  WHERE c.workspace_id = $1 AND c.step = 'land' AND c.step_due_at <= now()
    AND ${IS_OF_NO_PAUSED_TYPE}
  ORDER BY c.repository_id, c.target, c.step_agent_id IS NULL, c.approved_at, c.task_id
),
due AS MATERIALIZED (
  SELECT c.task_id FROM changes c
  WHERE c.workspace_id = $1 AND c.step IS NOT NULL AND c.step_due_at <= now()
    AND (c.step_until IS NULL OR c.step_until <= now())
    AND NOT ${isPaused('$1')}
    AND ${IS_OF_NO_PAUSED_TYPE}
    AND EXISTS (SELECT FROM agents a WHERE a.workspace_id = $1 AND a.id = $2
      AND '${USES_GIT}' = ANY (a.capabilities))
    AND ($3::boolean OR c.step = 'prove' OR c.step <> 'sync' AND EXISTS (SELECT FROM repositories r
      WHERE r.workspace_id = $1 AND r.id = c.repository_id AND r.forge = 'none'))
    AND (c.step <> 'land' OR c.task_id IN (SELECT task_id FROM first_landings)
      AND NOT EXISTS (SELECT FROM changes o
      WHERE o.workspace_id = $1 AND o.repository_id = c.repository_id AND o.target = c.target
        AND o.step = 'land' AND o.step_agent_id IS NOT NULL AND o.task_id <> c.task_id))
  ORDER BY CASE c.step WHEN 'land' THEN 1 WHEN 'prove' THEN 2 ELSE 3 END,
    coalesce(c.approved_at, c.submitted_at), c.task_id
  LIMIT 1
  FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE changes c SET step_agent_id = $2, step_generation = c.step_generation + 1,
  step_hurried = false,
  step_until = now() + interval '${STEP_LEASE_SECONDS} seconds',
  updated_at = CASE c.step WHEN 'sync' THEN c.updated_at ELSE now() END
FROM due d
WHERE c.workspace_id = $1 AND c.task_id = d.task_id
RETURNING ${CHANGE_COLUMNS}`,
);

/** SQL: the row is the step of its host. $1 workspace, $2 change, $3 agent, $4 generation. */
const IS_HELD = `c.workspace_id = $1 AND c.task_id = $2 AND c.step_agent_id = $3
  AND c.step_generation = $4`;

/** SQL: no pause that ends runs holds the task of the change. */
const GOES_ON = `NOT EXISTS (SELECT FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.id = $2 AND ${isEndedByPause('t')})`;

/**
 * No row under a pause that ends runs. Indexes: primary keys. $1 workspace, $2 change, $3 agent,
 * $4 generation.
 */
export const renewStep = command<{ step_until: Date }>(
  'renew_step',
  `
UPDATE changes c SET step_until = now() + interval '${STEP_LEASE_SECONDS} seconds'
WHERE ${IS_HELD} AND ${GOES_ON}
RETURNING c.step_until`,
);

/**
 * Records the commit that a host is about to push to the target, once. No row under a pause that
 * ends runs. Indexes: primary keys. $1 workspace, $2 change, $3 agent, $4 generation, $5 commit.
 */
export const planLanding = command<{ step_until: Date }>(
  'plan_landing',
  `
UPDATE changes c SET updated_at = now(), may_have_landed = true,
  landing_commits = array_append(array_remove(c.landing_commits, $5::text), $5::text),
  step_until = now() + interval '${STEP_LEASE_SECONDS} seconds'
WHERE ${IS_HELD} AND c.step = 'land' AND ${GOES_ON}
RETURNING c.step_until`,
);

/**
 * A host has looked: the change is not on its target. Index: primary key. $1 workspace, $2 change,
 * $3 agent, $4 generation.
 */
export const noteNotLanded = command<{ step_until: Date }>(
  'note_not_landed',
  `
UPDATE changes c SET may_have_landed = false,
  step_until = now() + interval '${STEP_LEASE_SECONDS} seconds'
WHERE ${IS_HELD} AND c.step = 'land'
RETURNING c.step_until`,
);

/** A wait grows to a quarter of the time that has passed since it began, at most these seconds. */
const MAX_WAIT_SECONDS = 600;
/** People hear of a wait that has lasted these seconds. */
const OVERDUE_SECONDS = 3_600;

/**
 * A host gives a step back that it did not finish. Something that happened at the forge meanwhile
 * makes it due at once. Waits grow with their time, and with the number of merges at forges in the
 * workspace. A step that its host gives back (released) keeps its wait. A server of the version
 * before does not reset step_overdue when it ends a wait, so step_overdue counts only together with
 * step_waits_since.
 *
 * Under the task's lock. Indexes: primary key, changes_pull_request_idx. Measured with 100,000
 * finished changes and 100 that wait: 0.2 ms. $1 workspace, $2 change, $3 agent, $4 generation,
 * $5 least seconds until it is due again, NULL: a person has to ask, $6 why it does not go on, or
 * NULL, $7 whether it counts as an attempt, $8 whether it waits for something that ends by itself,
 * $9 whether such a wait can be overdue.
 */
export const postponeStep = command<{ is_newly_overdue: boolean }>(
  'postpone_step',
  `
UPDATE changes c SET step_agent_id = NULL, step_until = NULL, obstacle = $6, updated_at = now(),
  version = c.version + 1, step_generation = c.step_generation + 1,
  step_attempts = c.step_attempts + $7::boolean::int, step_hurried = false,
  step_waits_since = CASE WHEN $8::boolean THEN coalesce(c.step_waits_since, now())
    WHEN NOT $7::boolean THEN c.step_waits_since END,
  step_overdue = c.step_waits_since IS NOT NULL AND CASE
    WHEN $8::boolean THEN c.step_overdue
      OR $9::boolean AND c.step_waits_since < now() - interval '${OVERDUE_SECONDS} seconds'
    ELSE NOT $7::boolean AND c.step_overdue END,
  step_due_at = CASE WHEN $5::float8 IS NULL THEN 'infinity' WHEN c.step_hurried THEN now()
    ELSE now() + make_interval(secs => greatest($5::float8, CASE WHEN $8::boolean THEN greatest(
      least(extract(epoch FROM now() - coalesce(c.step_waits_since, now()))::float8 / 4,
        ${MAX_WAIT_SECONDS}), ${SECONDS_EACH} * (SELECT count(*) FROM changes s
        WHERE s.workspace_id = $1 AND s.pull_request IS NOT NULL AND s.step = 'land')) END)) END
WHERE ${IS_HELD}
RETURNING c.step_overdue
  AND NOT (old.step_overdue AND old.step_waits_since IS NOT NULL) AS is_newly_overdue`,
);

/** The journal row of a change that waits for a person to mend something. */
export const noteObstacle = command<{ task_id: string }>(
  'note_obstacle',
  `
WITH c AS (SELECT * FROM changes c WHERE c.workspace_id = $1 AND c.task_id = $2),
journaled AS (
  ${journalRow(
    {
      workspace_id: 'c.workspace_id',
      event: "'change.obstructed'",
      task_id: 'c.task_id',
      run_id: 'c.run_id',
      level: "'WARN'",
      message: "'Its change does not go on: ' || left(c.obstacle, 500)",
      details: `jsonb_build_object('state', c.state, 'obstacle', left(c.obstacle, 2000),
        ${CHANGE_FIELDS})`,
      actor_kind: "'agent'",
      actor_id: '$3',
    },
    'c',
  )}
)
SELECT task_id FROM c`,
);

/**
 * The branch of a change was removed. A retried task begins with the target. The host of a closed
 * change has looked: it is not on its target. The planned commits stay, because a later removal
 * looks for them again. Under the task's lock. Index: primary key. $1 workspace, $2 change,
 * $3 agent, $4 generation.
 */
export const endRemoval = command<{ task_id: string }>(
  'end_removal',
  `
UPDATE changes c SET step = NULL, step_due_at = NULL, step_agent_id = NULL, step_until = NULL,
  step_generation = c.step_generation + 1, step_attempts = 0, obstacle = NULL, updated_at = now(),
  version = c.version + 1, may_have_landed = false,
  pull_request = CASE c.state WHEN 'CLOSED' THEN NULL ELSE c.pull_request END,
  pull_request_url = CASE c.state WHEN 'CLOSED' THEN NULL ELSE c.pull_request_url END,
  branch = CASE c.state WHEN 'CLOSED' THEN NULL ELSE c.branch END,
  base_commit = CASE c.state WHEN 'CLOSED' THEN NULL ELSE c.base_commit END,
  head_commit = CASE c.state WHEN 'CLOSED' THEN NULL ELSE c.head_commit END
WHERE ${IS_HELD} AND c.step = 'remove'
RETURNING c.task_id`,
);

/**
 * A synchronisation has ended, and the next one is due later. A change that has failed, has lost
 * its pull request, or whose repository has no forge any more, gets none. The interval grows with
 * the pull requests of the workspace. The obstacle of a synchronisation comes with attempts, and
 * ends here. Any other one stays.
 *
 * Under the task's lock. Indexes: primary key, changes_pull_request_idx. $1 workspace, $2 change,
 * $3 agent, $4 generation, $5 seconds.
 */
export const endSync = command<{ task_id: string }>(
  'end_sync',
  `
UPDATE changes c SET step_agent_id = NULL, step_until = NULL, step_attempts = 0,
  step_generation = c.step_generation + 1,
  obstacle = CASE WHEN c.step_attempts = 0 THEN c.obstacle END,
  version = c.version + (c.step_attempts > 0)::int,
  step = CASE WHEN n.goes_on THEN c.step END,
  step_hurried = false,
  step_due_at = CASE WHEN NOT n.goes_on THEN NULL WHEN c.step_hurried THEN now()
    ELSE now() + make_interval(secs => greatest($5::float8, n.synced * ${SECONDS_EACH})) END
FROM (
  SELECT o.state <> 'FAILED' AND o.pull_request IS NOT NULL AND r.forge <> 'none' AS goes_on,
    (SELECT count(*) FROM changes s
      WHERE s.workspace_id = $1 AND s.pull_request IS NOT NULL AND s.step = 'sync') AS synced
  FROM changes o JOIN repositories r ON r.workspace_id = $1 AND r.id = o.repository_id
  WHERE o.workspace_id = $1 AND o.task_id = $2) n
WHERE c.workspace_id = $1 AND c.task_id = $2 AND c.step_agent_id = $3 AND c.step_generation = $4
  AND c.step = 'sync'
RETURNING c.task_id`,
);

/**
 * The change that a host gets after the one that it lands, as long as nothing changes. A host proves
 * it with the network of the one before, so their tasks have one project. Indexes: primary keys,
 * changes_step_idx. $1 workspace, $2 the change that lands.
 */
export const nextToLand = query<{ task_id: string; head_commit: string }>(
  'next_to_land',
  `
SELECT c.task_id, c.head_commit FROM changes l
JOIN changes c ON c.workspace_id = $1 AND c.repository_id = l.repository_id
  AND c.target = l.target AND c.task_id <> $2
JOIN agent_tasks o ON o.workspace_id = $1 AND o.id = c.task_id
JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = $2
  AND t.project_id IS NOT DISTINCT FROM o.project_id
WHERE l.workspace_id = $1 AND l.task_id = $2 AND l.step = 'land'
  AND c.step = 'land' AND c.step_due_at <= now() AND c.head_commit IS NOT NULL
  AND ${IS_OF_NO_PAUSED_TYPE}
ORDER BY c.approved_at, c.task_id
LIMIT 1`,
);

/** The project of a change, and what its commit says. Index: primary key. $1 workspace, $2 task. */
export const taskOfChange = query<{
  title: string;
  summary: string | null;
  project_id: string | null;
}>(
  'task_of_change',
  `SELECT t.title, t.summary, t.project_id FROM agent_tasks t WHERE t.workspace_id = $1 AND t.id = $2`,
);
