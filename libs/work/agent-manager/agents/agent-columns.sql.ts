import { fieldsBut, Prisma, selected } from '#lib/database';
import { sent } from '#lib/kernel';
import { NO_HEARTBEAT } from '#lib/transitions';
import type { AgentRow, AgentView } from '../domain/agent-view.js';

/** The columns of AgentRow from `agents a`. */
export const AGENT_COLUMNS = `${selected('a', fieldsBut(Prisma.AgentScalarFieldEnum, ['setupFailures']))},
  (SELECT h.last_seen_at FROM agent_heartbeats h
    WHERE h.workspace_id = a.workspace_id AND h.agent_id = a.id) AS "lastSeenAt",
  EXISTS (SELECT FROM agent_heartbeats h
    WHERE h.workspace_id = a.workspace_id AND h.agent_id = a.id
      AND h.next_expected_at < ${NO_HEARTBEAT}) AS "hasSentHeartbeat"`;

export function toAgentView({
  lifecycle: _lifecycle,
  tokenVersion: _tokenVersion,
  ...shown
}: AgentRow): AgentView {
  return sent(shown);
}
