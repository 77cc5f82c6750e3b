import { command, query } from '#lib/database';
import { isInUse, logLine } from '#lib/transitions';
import type { Delivery, MessageState } from '../domain/run-message.js';

export interface MessageRow {
  id: string;
  run_id: string;
  position: number;
  type: string;
  text: string;
  data: unknown;
  deliver: Delivery;
  question_id: string | null;
  sender: string;
  state: MessageState;
  sent_at: Date;
  closed_at: Date | null;
}

const SHOWN = `m.id, m.run_id, m.sequence AS position, m.type, m.text, m.data, m.deliver, m.question_id, m.sender,
  m.state, m.sent_at, m.closed_at`;

/**
 * The task and the agent of a run that messages can reach. Index: primary keys. $1 workspace, $2
 * run.
 */
export const messageTarget = query<{
  task_id: string;
  agent_id: string;
  is_live: boolean;
  /** A coding agent executes the task. */
  hears: boolean;
}>(
  'message_target',
  `
SELECT r.task_id, r.agent_id, t.run_id IS NOT DISTINCT FROM r.id AS is_live, t.agent IS NOT NULL AS hears
FROM task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
WHERE r.workspace_id = $1 AND r.id = $2`,
);

/**
 * Adds a message behind the earlier ones of its run. No row if the run has the maximum number.
 *
 * Under the task's lock, so that two messages never get one position. Index:
 * run_messages_sequence_key. $1 workspace, $2 id, $3 run, $4 type, $5 text, $6 data or NULL, $7 when
 * it is delivered, $8 question or NULL, $9 sender, $10 the maximum number, or NULL.
 */
export const addMessage = command<MessageRow>(
  'add_message',
  `
INSERT INTO run_messages AS m
  (workspace_id, id, run_id, sequence, type, text, data, deliver, question_id, sender)
SELECT $1, $2, $3, last.sequence + 1, $4, $5, $6::jsonb, $7, $8, $9
FROM (SELECT coalesce(max(p.sequence), 0) AS sequence FROM run_messages p
  WHERE p.workspace_id = $1 AND p.run_id = $3) last
WHERE $10::int IS NULL OR last.sequence < $10
RETURNING ${SHOWN}`,
);

/**
 * Messages that wait for the live runs of an agent, in their order.
 *
 * Index: run_messages_waiting_idx, for each run. $1 workspace, $2 agent, $3 runs, $4 the last
 * position that the agent has of each, $5 maximum number of rows.
 */
export const waitingMessages = query<MessageRow>(
  'waiting_messages',
  `
SELECT ${SHOWN}
FROM unnest($3::uuid[], $4::int[]) AS heard (run_id, position)
JOIN task_runs r ON r.workspace_id = $1 AND r.id = heard.run_id AND r.agent_id = $2
JOIN run_messages m ON m.workspace_id = $1 AND m.run_id = heard.run_id
  AND m.sequence > heard.position AND m.state = 'waiting'
ORDER BY m.run_id, m.sequence
LIMIT $5`,
);

/**
 * Notes that the agent of the live run has received messages, with an entry of the log for each
 * message of a person. Repeated positions change nothing.
 *
 * Index: primary keys, run_messages_sequence_key. $1 workspace, $2 run, $3 agent, $4 actor kind, $5
 * actor id, $6 positions.
 */
export const deliverMessages = command<{ delivered: number }>(
  'deliver_messages',
  `
WITH run AS MATERIALIZED (
  SELECT r.id, r.task_id, r.session_key FROM task_runs r JOIN agent_tasks t
    ON t.workspace_id = r.workspace_id AND t.id = r.task_id
  WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3 AND t.run_id = r.id AND ${isInUse('$1')}
),
m AS (
  UPDATE run_messages m SET state = 'delivered', closed_at = now() FROM run
  WHERE m.workspace_id = $1 AND m.run_id = run.id AND m.sequence = ANY ($6::int[])
    AND m.state = 'waiting'
  RETURNING m.*
),
logged AS (
  ${logLine(
    {
      workspace_id: '$1',
      task_id: 'run.task_id',
      run_id: 'run.id',
      agent_id: '$3',
      level: "'INFO'",
      event: "'message_delivered'",
      message: 'm.text',
      details: `jsonb_strip_nulls(jsonb_build_object('messageId', m.id, 'position', m.sequence,
        'type', m.type, 'data', m.data, 'deliver', m.deliver, 'sender', m.sender))`,
      actor_kind: '$4',
      actor_id: '$5',
      session_key: 'run.session_key',
    },
    `run JOIN m ON m.question_id IS NULL ORDER BY m.sequence`,
  )}
)
SELECT (SELECT count(*)::int FROM m) AS delivered FROM run`,
);

/**
 * Messages of a run, oldest first. Index: run_messages_sequence_key. $1 workspace, $2 run, $3 last
 * position of the previous page or 0, $4 maximum number of rows.
 */
export const messagesOfRun = query<MessageRow>(
  'messages_of_run',
  `
SELECT ${SHOWN} FROM run_messages m
WHERE m.workspace_id = $1 AND m.run_id = $2 AND m.sequence > $3
ORDER BY m.sequence LIMIT $4`,
);
