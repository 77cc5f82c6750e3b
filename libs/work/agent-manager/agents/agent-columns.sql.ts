import { fieldsBut, Prisma, selected } from '#lib/database';
import { sent } from '#lib/kernel';
import type { AgentRow, AgentView } from '../domain/agent-view.js';

/** The columns of AgentRow from `agents a`. */
export const AGENT_COLUMNS = `${selected('a', fieldsBut(Prisma.AgentScalarFieldEnum, ['setupFailures']))},
  (SELECT h.last_seen_at FROM agent_heartbeats h
    WHERE h.workspace_id = a.workspace_id AND h.agent_id = a.id) AS "lastSeenAt"`;

export function toAgentView({
  lifecycle: _lifecycle,
  tokenVersion: _tokenVersion,
  ...shown
}: AgentRow): AgentView {
  return sent(shown);
}
